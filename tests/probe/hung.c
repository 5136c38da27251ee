/* SPDX-License-Identifier: MIT */
/*
 * A server takes a request and never answers it. Bare the read would wait for ever; with
 * reply_timeout it ends, for connections that the program has made and nothing else. An alarm
 * stands in for the timeout of the bare program.
 * Usage: hung WHAT [CALL]
 */
#include "alarm.h"
#include "tallies.h"

#define TIMEOUT 1200 /* ms, reply_timeout in the driver's policy */
#define ALARM   3000 /* ms, after which the bare program ends its call */

ssize_t __recv_chk(int, void *, size_t, size_t, int) __attribute__((weak));
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *)
    __attribute__((weak));
ssize_t __read_chk(int, void *, size_t, size_t) __attribute__((weak));

static char data[16];
static int listener, peer = -1;
static uint16_t port;

static ssize_t receive(int fd, const char *call)
{
	struct iovec part = { .iov_base = data, .iov_len = 1 };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };
	ssize_t result;
	int pipes[2];

	if (strcmp(call, "recv") == 0)
		return recv(fd, data, 1, 0);
	if (strcmp(call, "peek") == 0)
		return recv(fd, data, 1, MSG_PEEK);
	if (strcmp(call, "recvfrom") == 0)
		return recvfrom(fd, data, 1, 0, NULL, NULL);
	if (strcmp(call, "recvmsg") == 0)
		return recvmsg(fd, &message.msg_hdr, 0);
	if (strcmp(call, "recvmmsg") == 0)
		return recvmmsg(fd, &message, 1, 0, NULL) == 1 ? 1 : -1;
	if (strcmp(call, "readv") == 0)
		return readv(fd, &part, 1);
	if (strcmp(call, "recv_chk") == 0 && __recv_chk)
		return __recv_chk(fd, data, 1, sizeof(data), 0);
	if (strcmp(call, "recvfrom_chk") == 0 && __recvfrom_chk)
		return __recvfrom_chk(fd, data, 1, sizeof(data), 0, NULL, NULL);
	if (strcmp(call, "read_chk") == 0 && __read_chk)
		return __read_chk(fd, data, 1, sizeof(data));
	if (strcmp(call, "splice") == 0) {
		if (pipe(pipes) != 0)
			give_up("pipe");
		result = splice(fd, NULL, pipes[1], NULL, 1, 0);
		close(pipes[0]);
		close(pipes[1]);
		return result;
	}
	return read(fd, data, 1);
}

static void timed(const char *what, int fd, const char *call)
{
	int64_t start = now_ms();
	ssize_t n = receive(fd, call);
	int err = n < 0 ? errno : 0;
	int64_t ms = now_ms() - start;

	printf("%s: %s%s, %s\n", what, n == 0 ? "end of " : "", n == 0 ? "file" : error_name(err),
	       ms < TIMEOUT - TIMEOUT / 4 ? "early"
	       : ms < ALARM - 400         ? "in time"
	                                  : "late");
}

/* A connection on which one request went out, and its other end. */
static int asked(void)
{
	int fd = connected(port);

	if (fd < 0)
		give_up("connect");
	peer = accept(listener, NULL, NULL);
	if (send(fd, "?", 1, 0) != 1)
		give_up("send");
	return fd;
}

static void reply(int to)
{
	syscall(SYS_sendto, to, "!", 1, MSG_NOSIGNAL, NULL, 0);
}

/* The read ends; a second one waits anew; the answer that comes after all is read. */
static void ends(const char *call)
{
	int fd = asked();

	alarm_in(ALARM, 0, 0);
	timed("read", fd, call);
	alarm_in(ALARM, 0, 0);
	timed("again", fd, call);
	reply(peer);
	timed("answer", fd, call);
	close(fd);
}

static void resets(void)
{
	int fd = asked();

	signal(SIGPIPE, SIG_IGN);
	alarm_in(ALARM, 0, 0);
	timed("read", fd, "recv");
	timed("again", fd, "recv");
	printf("write: %s\n", error_name(send(fd, "?", 1, 0) == 1 ? 0 : errno));
	printf("server sees: %zd", recv(peer, data, 1, MSG_DONTWAIT));
	printf(", %zd\n", recv(peer, data, 1, MSG_DONTWAIT));
	close(fd);
}

/* Two reads run out on one connection, and the next one is a retry: one failure. */
static void counts(void)
{
	int fd = asked();

	receive(fd, "read");
	receive(fd, "read");
	close(fd);
	tell_port("hung", port);
	pause_ms(300); /* the first backoff is over */
	close(asked());
	close(asked());
}

static void second_request(void)
{
	int fd = asked();

	reply(peer);
	timed("first", fd, "recv");
	send(fd, "?", 1, 0);
	alarm_in(ALARM, 0, 0);
	timed("second", fd, "recv");
	close(fd);
}

/* Once the answer has begun it may take as long as it likes. */
static void slow_answer(void)
{
	int fd = asked();

	reply(peer);
	timed("first byte", fd, "recv");
	alarm_in(ALARM, 0, 0);
	timed("the rest", fd, "recv");
	close(fd);
}

static void greeting(void)
{
	int fd = connected(port);

	alarm_in(ALARM, 0, 0);
	timed("greeting", fd, "read");
	close(fd);
}

static void has_its_own(int ms)
{
	struct timeval limit = { ms / 1000, ms % 1000 * 1000L }, after = { 0 };
	socklen_t len = sizeof(after);
	int fd = asked();
	int64_t start;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	start = now_ms();
	receive(fd, "recv");
	start = now_ms() - start;
	printf("read: %s, %s\n", error_name(errno),
	       start < ms - ms / 4 ? "before its own time"
	       : start < ms + 600  ? "at its own time"
	                           : "after its own time");
	getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &after, &len);
	printf("after: %ld\n", (long)(after.tv_sec * 1000 + after.tv_usec / 1000));
}

/* Reads in a child, so that several can wait at a time. */
static pid_t start_read(const char *what, int fd)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		alarm_in(ALARM, 0, 0);
		timed(what, fd, "read");
		fflush(stdout);
		_exit(0);
	}
	return child;
}

/* Nothing but connections of ours, and nothing that does not wait. */
static void others(void)
{
	int pair[2], pipes[2], second = asked(), fd = asked(), status;
	pid_t children[4];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || pipe(pipes) != 0)
		give_up("pair");
	timed("accepted", peer, "recv");
	printf("flag: %s\n", error_name(recv(fd, data, 1, MSG_DONTWAIT) < 0 ? errno : 0));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	timed("non-blocking", fd, "read");
	fcntl(fd, F_SETFL, 0);
	printf("nothing: %zd\n", read(fd, data, 0));
	if (dup2(pipes[0], second) != second)
		give_up("dup2");
	children[0] = start_read("waits", peer);
	children[1] = start_read("waits", pair[0]);
	children[2] = start_read("waits", pipes[0]);
	children[3] = start_read("waits", second);
	for (int i = 0; i < 4; i++)
		waitpid(children[i], &status, 0);
}

static void unseen_reuse(void)
{
	int pair[2], fd = asked();

	syscall(SYS_close, fd);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || (pair[0] != fd && pair[1] != fd))
		give_up("number");
	alarm_in(ALARM, 0, 0);
	timed("pair", fd, "read");
}

static void is_restarted(void)
{
	int fd = asked();

	alarm_in(200, 200, SA_RESTART);
	timed("read", fd, "recv");
	alarm_in(0, 0, SA_RESTART);
	printf("handled: %s\n", handled > 2 ? "several" : "too few");
}

static void is_interrupted(void)
{
	int fd = asked();

	alarm_in(300, 0, 0);
	timed("read", fd, "recv");
	reply(peer);
	timed("answer", fd, "recv");
}

/* Out of the wait, and on with the connection. */
static void is_left(void)
{
	struct timeval after = { 0 };
	socklen_t len = sizeof(after);
	int fd = asked(), fds;

	count_fds();
	fds = count_fds();
	for (int i = 0; i < 5; i++) {
		jumps = 1;
		if (sigsetjmp(before_alarm, 1) == 0) {
			alarm_in(100, 0, 0);
			receive(fd, "recv");
			printf("did not jump\n");
		}
		jumps = 0;
	}
	reply(peer);
	timed("answer", fd, "recv");
	getsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &after, &len);
	printf("descriptors left: %d, SO_RCVTIMEO: %ld\n", count_fds() - fds, (long)after.tv_sec);
}

static void *worker(void *arg)
{
	receive(*(int *)arg, "recv");
	return arg;
}

static void is_cancelled(void)
{
	int fd = asked();
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, worker, &fd);
	pause_ms(300);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("ended: %s\n", result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	reply(peer);
	timed("answer", fd, "recv");
}

static void in_a_child(void)
{
	int fd = asked(), status;
	pid_t child;

	child = start_read("child", fd);
	waitpid(child, &status, 0);
	reply(peer);
	timed("parent", fd, "read");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "ends", *call = argc > 2 ? argv[2] : "recv";

	port = refusing_port(&listener);
	if (listen(listener, 8) != 0)
		give_up("listen");
	if (strcmp(what, "ends") == 0)
		ends(call);
	else if (strcmp(what, "resets") == 0)
		resets();
	else if (strcmp(what, "counts") == 0)
		counts();
	else if (strcmp(what, "second") == 0)
		second_request();
	else if (strcmp(what, "slow") == 0)
		slow_answer();
	else if (strcmp(what, "greeting") == 0)
		greeting();
	else if (strcmp(what, "short") == 0)
		has_its_own(400);
	else if (strcmp(what, "long") == 0)
		has_its_own(2500);
	else if (strcmp(what, "others") == 0)
		others();
	else if (strcmp(what, "unseen") == 0)
		unseen_reuse();
	else if (strcmp(what, "restart") == 0)
		is_restarted();
	else if (strcmp(what, "interrupt") == 0)
		is_interrupted();
	else if (strcmp(what, "jump") == 0)
		is_left();
	else if (strcmp(what, "cancel") == 0)
		is_cancelled();
	else if (strcmp(what, "child") == 0)
		in_a_child();
	else
		give_up("usage");
	return 0;
}
