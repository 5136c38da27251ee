/* SPDX-License-Identifier: MIT */
/*
 * A program that asks again on a kept connection as soon as the server has said 503. No connect
 * tells of it; only the status does. The server turns the first two requests away, each with a
 * Retry-After of two seconds (of thirty in the scene `long`).
 *
 * Usage: http_kept CALL [READ]: asks by this call and reads by that one, on a socket that blocks,
 * or: http_kept nonblocking|signal|restart|timeout|cancel|long|pipelined|gone|beside
 */
#include "probe.h"

#include <sys/sendfile.h>

#define ASK "GET / HTTP/1.1\r\nHost: here\r\n\r\n"
#define BAD "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: %s\r\nX-Last: x\r\n\r\n"
#define OK  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Last: x\r\n\r\n"

static volatile int *asked, *accepted; /* by the server: requests, connections */
static const char *later = "2";
static int turned_away = 2;
static int served_before;

/* Each request is known by its empty line. */
static void answer(int peer)
{
	char data[4096], reply[256];
	size_t have = 0;

	for (;;) {
		ssize_t got = recv(peer, data + have, sizeof(data) - 1 - have, 0);
		char *end;

		if (got <= 0)
			return;
		have += (size_t)got;
		data[have] = '\0';
		while ((end = strstr(data, "\r\n\r\n")) != NULL) {
			int number = ++*asked - served_before;
			bool well = number <= 0 || number > turned_away;
			int n = snprintf(reply, sizeof(reply), well ? OK : BAD, later);

			have -= (size_t)(end + 4 - data);
			memmove(data, end + 4, have + 1);
			send(peer, reply, (size_t)n, MSG_NOSIGNAL);
		}
	}
}

static uint16_t start_http_server(void)
{
	struct sockaddr_in address = loopback(0);
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	asked = shared_memory(sizeof(*asked));
	accepted = shared_memory(sizeof(*accepted));
	if (bind(listener, (struct sockaddr *)&address, len) != 0 || listen(listener, 16) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) != 0)
		give_up("server");
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			int peer = accept(listener, NULL, NULL);

			++*accepted;
			if (fork() == 0) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				answer(peer);
				_exit(0);
			}
			close(peer);
		}
	}
	close(listener);
	return ntohs(address.sin_port);
}

/* --- the program --- */

static ssize_t ask_by(int fd, const char *call, const char *text, size_t n)
{
	struct iovec parts[2] = { { (void *)text, n / 2 }, { (void *)(text + n / 2), n - n / 2 } };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = parts, .msg_iovlen = 2 } };

	if (strcmp(call, "send") == 0)
		return send(fd, text, n, 0);
	if (strcmp(call, "sendto") == 0)
		return sendto(fd, text, n, 0, NULL, 0);
	if (strcmp(call, "write") == 0)
		return write(fd, text, n);
	if (strcmp(call, "writev") == 0)
		return writev(fd, parts, 2);
	if (strcmp(call, "sendmsg") == 0)
		return sendmsg(fd, &message.msg_hdr, 0);
	if (strcmp(call, "sendmmsg") == 0)
		return sendmmsg(fd, &message, 1, 0) == 1 ? (ssize_t)message.msg_len : -1;
	if (strcmp(call, "sendfile") == 0) {
		char path[] = "/tmp/retrybudget-probe-XXXXXX";
		int file = mkstemp(path);
		off_t from = 0;
		ssize_t sent;

		unlink(path);
		if (write(file, text, n) != (ssize_t)n)
			give_up("file");
		sent = sendfile(fd, file, &from, n);
		close(file);
		return sent;
	}
	give_up("no such call");
	return -1;
}

static ssize_t read_by(int fd, const char *call, char *data, size_t n)
{
	struct iovec parts[2] = { { data, 3 }, { data + 3, n - 3 } };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = parts, .msg_iovlen = 2 } };

	if (strcmp(call, "recv") == 0)
		return recv(fd, data, n, 0);
	if (strcmp(call, "bytes") == 0)
		return recv(fd, data, 1, 0);
	if (strcmp(call, "peek") == 0 && recv(fd, data, n, MSG_PEEK) < 0)
		return -1;
	if (strcmp(call, "recvfrom") == 0 || strcmp(call, "peek") == 0)
		return recvfrom(fd, data, n, 0, NULL, NULL);
	if (strcmp(call, "read") == 0)
		return read(fd, data, n);
	if (strcmp(call, "readv") == 0)
		return readv(fd, parts, 2);
	if (strcmp(call, "recvmsg") == 0)
		return recvmsg(fd, &message.msg_hdr, 0);
	if (strcmp(call, "recvmmsg") == 0)
		return recvmmsg(fd, &message, 1, 0, NULL) == 1 ? (ssize_t)message.msg_len : -1;
	give_up("no such call");
	return -1;
}

/* The status of one reply, read to the end of its head; 0: the connection has ended; -1: errno. */
static int status_of(int fd, const char *call)
{
	char data[512] = "", status[4] = "";
	size_t have = 0;

	while (!strstr(data, "\r\n\r\n")) {
		ssize_t got = read_by(fd, call, data + have, sizeof(data) - 1 - have);

		if (got <= 0)
			return (int)got;
		have += (size_t)got;
		data[have] = '\0';
	}
	memcpy(status, data + 9, 3);
	return atoi(status);
}

static const char *seen(int status)
{
	static char text[64];

	snprintf(text, sizeof(text), "%d", status);
	return status < 0 ? error_name(errno) : status == 0 ? "end of file" : text;
}

static void ask(int fd, const char *call, const char *reading)
{
	int64_t start = now_ms();
	ssize_t sent = ask_by(fd, call, ASK, strlen(ASK));
	int status = sent < 0 ? -1 : status_of(fd, reading);

	printf("%s, %s\n", seen(status), length_of(now_ms() - start, 2000));
}

/* What a program sees whose connection the server has closed while it was idle; one that sends its
 * body in a second piece must not die of SIGPIPE. */
static void on_nonblocking(int fd)
{
	struct pollfd at = { .fd = fd, .events = POLLIN };
	ssize_t sent;
	char data[512];

	ask(fd, "send", "recv");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	sent = send(fd, ASK, strlen(ASK), 0);
	printf("sent: %s\n", sent == (ssize_t)strlen(ASK) ? "all" : error_name(errno));
	poll(&at, 1, 5000);
	sent = recv(fd, data, sizeof(data), 0);
	printf("then: %s\n", sent > 0 ? "a reply" : sent == 0 ? "end of file" : error_name(errno));
	sent = write(fd, ASK, strlen(ASK));
	printf("sent: %s\n", sent == (ssize_t)strlen(ASK) ? "all" : error_name(errno));
	poll(&at, 1, 1000); /* for as long as a busy server may need */
	printf("requests at the server: %d\n", *asked);
}

static volatile sig_atomic_t handled;

static void on_alarm(int number)
{
	(void)number;
	handled++;
}

static void on_signal(int fd, bool restart)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = restart ? SA_RESTART : 0 };

	ask(fd, "send", "recv");
	sigaction(SIGALRM, &action, NULL);
	alarms_from(500);
	ask(fd, "send", "recv");
	for (int i = 0; i < 50 && !handled; i++)
		pause_ms(100);
	alarms_from(0);
	if (!restart) /* sent again, as programs do after EINTR */
		ask(fd, "send", "recv");
}

static void on_timeout(int fd)
{
	struct timeval timeout = { .tv_usec = 300000 };

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	for (int i = 0; i < 2; i++)
		ask(fd, "send", "recv");
}

static void *asks_twice(void *at)
{
	int fd = *(int *)at;

	ask(fd, "send", "recv");
	fflush(stdout);
	send(fd, ASK, strlen(ASK), 0);
	status_of(fd, "recv");
	printf("not held back\n");
	for (;;)
		pause();
	return NULL;
}

static void on_cancel(int fd)
{
	pthread_t thread;
	void *result;
	int64_t start;

	pthread_create(&thread, NULL, asks_twice, &fd);
	pause_ms(400);
	pthread_cancel(thread);
	start = now_ms();
	pthread_join(thread, &result);
	printf("%s, %s\n", result == PTHREAD_CANCELED ? "cancelled" : "not cancelled",
	       length_of(now_ms() - start, 2000));
}

static void on_pipelined(int fd)
{
	int64_t start = now_ms();
	char data[512];
	size_t have = 0;

	send(fd, ASK ASK, 2 * strlen(ASK), 0);
	while (*asked < 2 || have < 2 * strlen(BAD) - 4) {
		ssize_t got = recv(fd, data, sizeof(data), 0);

		if (got <= 0)
			give_up("pipelined");
		have += (size_t)got;
	}
	printf("two at once, %s\n", length_of(now_ms() - start, 2000));
	ask(fd, "send", "recv");
}

/* The number belongs to something else in the meantime. */
static void on_gone(int fd, uint16_t port)
{
	int ends[2], other = -1;
	char data[8];

	ask(fd, "send", "recv");
	if (pipe(ends) != 0)
		give_up("pipe");
	if (syscall(SYS_dup3, ends[1], fd, 0) != fd)
		give_up("dup3");
	printf("to a pipe: %zd\n", write(fd, "abc", 3));
	printf("from it: %zd\n", read(ends[0], data, sizeof(data)));
	other = connected(port);
	if (syscall(SYS_dup3, other, fd, 0) != fd)
		give_up("dup3");
	ask(fd, "send", "recv");
}

static void *asks_thrice(void *at)
{
	for (int i = 0; i < 3; i++) {
		send(*(int *)at, ASK, strlen(ASK), 0);
		status_of(*(int *)at, "recv");
	}
	return NULL;
}

/* While one thread waits to send its request again, the same one of another thread that has been
 * served all along. That of the second failure is known. */
static void on_beside(int fd, uint16_t port)
{
	int other = connected(port);
	pthread_t thread;

	ask(fd, "send", "recv");
	pthread_create(&thread, NULL, asks_thrice, &other);
	while (*asked < 3)
		pause_ms(10);
	pause_ms(300);
	ask(fd, "send", "recv");
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "send";
	const char *reading = argc > 2 ? argv[2] : "recv";
	uint16_t port;
	int fd;

	if (strcmp(scene, "long") == 0)
		later = "30";
	served_before = strcmp(scene, "beside") == 0;
	port = start_http_server();
	fd = connected(port);
	if (strcmp(scene, "nonblocking") == 0)
		on_nonblocking(fd);
	else if (strcmp(scene, "signal") == 0 || strcmp(scene, "restart") == 0)
		on_signal(fd, scene[0] == 'r');
	else if (strcmp(scene, "timeout") == 0)
		on_timeout(fd);
	else if (strcmp(scene, "cancel") == 0)
		on_cancel(fd);
	else if (strcmp(scene, "pipelined") == 0)
		on_pipelined(fd);
	else if (strcmp(scene, "gone") == 0)
		on_gone(fd, port);
	else if (strcmp(scene, "beside") == 0)
		on_beside(fd, port);
	else
		for (int i = 0; i < (strcmp(scene, "long") ? 4 : 2); i++)
			ask(fd, strcmp(scene, "long") ? scene : "send", reading);
	printf("connections: %d\n", *accepted);
	return 0;
}
