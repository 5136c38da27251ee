/* SPDX-License-Identifier: MIT */
/*
 * SIGALRM every 100 microseconds through a million calls, with handlers that make hooked calls of
 * their own and interrupt the shim wherever it happens to be (HAZARDS 12): every byte arrives, and
 * every error is the right one.
 * Usage: storm [CALLS]	fewer than a million: every 20 milliseconds
 */
#include "trap.h"

static int ends[2], zero;
static uint16_t bad;
static volatile int handled, wrong_in_handler;

static void handler(int signal)
{
	int saved = errno, fd;
	char data[8];

	(void)signal;
	handled++;
	if (read(zero, data, sizeof(data)) != sizeof(data) || write(zero, data, 1) != -1)
		wrong_in_handler++;
	if (handled % 64 == 0) {
		struct sockaddr_in to = loopback(bad);

		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ||
		    (errno != EINPROGRESS && errno != ECONNREFUSED))
			wrong_in_handler++;
		close(fd);
	}
	errno = saved;
}

/* One word there and one back, in whatever pieces the signals leave. */
static bool pass(int from, int to, uint32_t word)
{
	uint32_t got = 0;

	while (send(from, &word, sizeof(word), MSG_NOSIGNAL) != sizeof(word))
		if (errno != EINTR)
			return false;
	while (recv(to, &got, sizeof(got), MSG_WAITALL) != sizeof(got))
		if (errno != EINTR)
			return false;
	return got == word;
}

int main(int argc, char **argv)
{
	struct itimerval often = { { 0, 100 }, { 0, 100 } }, never = { 0 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
	int calls = argc > 1 ? atoi(argv[1]) : 1000000, held, wrong = 0, listener, peer;
	uint16_t port;
	int fd;

	if (calls < 1000000) /* traced: each signal takes longer than that */
		often.it_interval.tv_usec = often.it_value.tv_usec = 20000;
	bad = refusing_port(&held);
	port = refusing_port(&listener);
	listen(listener, 16);
	fd = connected(port);
	peer = accept(listener, NULL, NULL);
	zero = open("/dev/zero", O_RDONLY);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		give_up("socketpair");
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < calls / 2; i++) {
		wrong += !pass(ends[i & 1], ends[~i & 1], i);
		if (i % 8 == 0)
			wrong += !pass(fd, peer, i) || !pass(peer, fd, ~i);
		if (i % 1024 == 0) {
			int err = attempt(bad, NULL);

			wrong += err != ECONNREFUSED && err != EINTR;
		}
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("wrong: %d, in the handler: %d, handled: %s\n", wrong, wrong_in_handler,
	       handled > 0 ? "some" : "none");
	return 0;
}
