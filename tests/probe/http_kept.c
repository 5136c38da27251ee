/* SPDX-License-Identifier: MIT */
/*
 * A program that asks again on a kept connection as soon as the server has said 503. No connect
 * tells of it; only the status does. The server rejects the first two requests, each with a
 * Retry-After of two seconds.
 *
 * Usage: http_kept CALL [READ]: asks by this call and reads by that one, on a socket that blocks,
 * or: http_kept nonblocking|pipelined
 */
#include "probe.h"

#include <sys/sendfile.h>

#define ASK "GET / HTTP/1.1\r\nHost: here\r\n\r\n"
#define BAD "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nRetry-After: 2\r\nX-Last: x\r\n\r\n"
#define OK  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Last: x\r\n\r\n"

static volatile int *asked, *accepted; /* by the server: requests, connections */
static int rejected = 2;

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
			int number = ++*asked;
			bool well = number > rejected;
			int n = snprintf(reply, sizeof(reply), "%s", well ? OK : BAD);

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

int main(int argc, char **argv)
{
	const char *scene = argc > 1 ? argv[1] : "send";
	const char *reading = argc > 2 ? argv[2] : "recv";
	uint16_t port;
	int fd;

	port = start_http_server();
	fd = connected(port);
	if (strcmp(scene, "nonblocking") == 0)
		on_nonblocking(fd);
	else if (strcmp(scene, "pipelined") == 0)
		on_pipelined(fd);
	else
		for (int i = 0; i < 4; i++)
			ask(fd, scene, reading);
	printf("connections: %d\n", *accepted);
	return 0;
}
