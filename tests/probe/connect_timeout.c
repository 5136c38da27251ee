/* SPDX-License-Identifier: MIT */
/*
 * A blocking connect that nobody answers would take two minutes, or on the unix family for ever.
 * With connect_timeout it ends, as a connect that the kernel has given up, and the socket is as it
 * was. An alarm stands in for the timeout of the bare program.
 * Usage: connect_timeout WHAT [inet|inet6|unix|fastopen]
 */
#include "alarm.h"
#include "black_hole.h"

#define TIMEOUT 1500 /* ms, connect_timeout in the driver's policy */
#define ALARM   3500 /* ms, after which the bare program ends its call */

static struct black_hole hole;
static bool fastopen;

static int new_socket(void)
{
	return socket(hole.at.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int connect_it(int fd)
{
	const struct sockaddr *to = (struct sockaddr *)&hole.at;

	if (fastopen)
		return sendto(fd, "x", 1, MSG_FASTOPEN, to, hole.len) == 1 ? 0 : errno;
	return connect(fd, to, hole.len) == 0 ? 0 : errno;
}

/* Both options that the shim might use; 0 as the kernel has them. */
static void tell_options(const char *when, int fd)
{
	struct timeval limit = { 0 };
	socklen_t len = sizeof(limit), size = sizeof(int);
	int timeout = 0;

	getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, &len);
	getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, &size);
	printf("%s: SO_SNDTIMEO %ld, TCP_USER_TIMEOUT %d\n", when,
	       (long)(limit.tv_sec * 1000 + limit.tv_usec / 1000), timeout);
}

static void tell(const char *what, int err, int64_t ms)
{
	printf("%s: %s, %s\n", what, error_name(err),
	       ms < TIMEOUT - TIMEOUT / 4 ? "early"
	       : ms < ALARM - 500         ? "in time"
	                                  : "late");
}

static void timed(const char *what, int fd)
{
	int64_t start = now_ms();
	int err = connect_it(fd);

	tell(what, err, now_ms() - start);
}

static int ended(int fd)
{
	struct pollfd at = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = -1;

	poll(&at, 1, 10000);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	return err;
}

/* The call ends, and the same socket connects once the server is there. */
static void gives_up(void)
{
	int fd = new_socket();

	alarm_in(ALARM, 0, 0);
	timed("connect", fd);
	tell_options("after", fd);
	open_up(&hole);
	if (hole.at.ss_family != AF_UNIX && !handled)
		printf("pending error: %s\n", error_name(ended(fd)));
	if (handled) { /* bare: it goes on by itself */
		close(fd);
		fd = new_socket();
	}
	fastopen = false;
	pause_ms(50); /* the backoff of the driver's policy is over */
	printf("again: %s\n", error_name(connect_it(fd)));
	tell_options("connected", fd);
}

/* A handler with SA_RESTART does not end the call; one without does. */
static void is_restarted(void)
{
	int fd = new_socket();

	alarm_in(200, 200, SA_RESTART);
	timed("connect", fd);
	alarm_in(0, 0, SA_RESTART);
	printf("handled: %s\n", handled > 2 ? "several" : "too few");
	tell_options("after", fd);
}

static void is_interrupted(void)
{
	int fd = new_socket();

	alarm_in(400, 0, 0);
	timed("connect", fd);
	open_up(&hole);
	if (hole.at.ss_family == AF_UNIX)
		printf("again: %s\n", error_name(connect_it(fd)));
	else
		printf("in the end: %s\n", error_name(ended(fd)));
	tell_options("after", fd);
}

/* how: what the program does next, and what shows that the connect is over. */
static void is_left(const char *how)
{
	int fd = new_socket(), err = 0;

	jumps = 1;
	if (sigsetjmp(before_alarm, 1) == 0) {
		alarm_in(400, 0, 0);
		connect_it(fd);
		printf("did not jump\n");
	}
	jumps = 0;
	open_up(&hole);
	if (strcmp(how, "asks") == 0) {
		err = ended(fd);
	} else if (strcmp(how, "connects") == 0) {
		err = connect_it(fd);
		if (err == EISCONN)
			err = 0;
	} else {
		struct pollfd at = { .fd = fd, .events = POLLOUT };

		poll(&at, 1, 10000);
		err = send(fd, "x", 1, 0) == 1 ? 0 : errno;
	}
	printf("%s: %s\n", how, error_name(err));
	tell_options("after", fd);
}

static int cancelled_fd;

static void *worker(void *arg)
{
	connect_it(cancelled_fd);
	return arg;
}

static void is_cancelled(void)
{
	pthread_t thread;
	void *result;

	cancelled_fd = new_socket();
	pthread_create(&thread, NULL, worker, NULL);
	pause_ms(300);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("ended: %s\n", result == PTHREAD_CANCELED ? "cancelled" : "not cancelled");
	open_up(&hole);
	printf("in the end: %s\n",
	       error_name(hole.at.ss_family == AF_UNIX ? connect_it(cancelled_fd)
	                                               : ended(cancelled_fd)));
	tell_options("after", cancelled_fd);
}

/* What the program has set for itself, shorter or longer, stays and keeps its own error. */
static void has_its_own(int ms, bool user)
{
	struct timeval limit = { ms / 1000, ms % 1000 * 1000L };
	int fd = new_socket(), err;
	int64_t start;

	if (user)
		setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof(ms));
	else
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	start = now_ms();
	err = connect_it(fd);
	start = now_ms() - start;
	printf("connect: %s, %s\n", error_name(err),
	       start < ms - ms / 4 ? "before its own time" : "after its own time");
	tell_options("after", fd);
}

static void does_not_block(void)
{
	int fd = new_socket();

	fcntl(fd, F_SETFL, O_NONBLOCK);
	printf("connect: %s\n", error_name(connect_it(fd)));
	tell_options("after", fd);
	pause_ms(hole.at.ss_family == AF_UNIX ? 0 : 2 * TIMEOUT);
	printf("later: %s\n", hole.at.ss_family == AF_UNIX ? "-" : error_name(connect_it(fd)));
}

static void in_a_child(void)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		gives_up();
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "gives-up", *family = argc > 2 ? argv[2] : "inet";

	fastopen = strcmp(family, "fastopen") == 0;
	open_black_hole(&hole, strcmp(family, "inet6") == 0  ? AF_INET6
	                       : strcmp(family, "unix") == 0 ? AF_UNIX
	                                                     : AF_INET);
	if (strcmp(what, "gives-up") == 0)
		gives_up();
	else if (strcmp(what, "restart") == 0)
		is_restarted();
	else if (strcmp(what, "interrupt") == 0)
		is_interrupted();
	else if (strncmp(what, "jump-", 5) == 0)
		is_left(what + 5);
	else if (strcmp(what, "cancel") == 0)
		is_cancelled();
	else if (strcmp(what, "short") == 0)
		has_its_own(500, false);
	else if (strcmp(what, "long") == 0)
		has_its_own(2500, false);
	else if (strcmp(what, "user") == 0)
		has_its_own(2500, true);
	else if (strcmp(what, "nonblock") == 0)
		does_not_block();
	else if (strcmp(what, "child") == 0)
		in_a_child();
	else
		give_up("usage");
	return 0;
}
