/* SPDX-License-Identifier: MIT */
/*
 * A server that can take so many connections a second and no more: it answers one request a
 * connection, RATE of them a second, in the order in which they came, and what comes faster waits
 * in its queue. Who pushes it over the edge, more than EDGE within a second, kills it: for two
 * seconds it resets all that it has and all that comes. Usage:
 *
 *   server PORT RATE EDGE
 *
 * Prints "ready" once it listens. A line on stdin has it print: connections that arrived, that were
 * answered, the most that arrived within a second, how often it was killed, and when it answered
 * first (ns of CLOCK_MONOTONIC).
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define TURN   64 /* before anything else is looked at: those that it resets come again at once */
#define MOST   65536

static int queue[MOST];
static unsigned int head, tail;
static int64_t arrivals[MOST]; /* a ring of the last ones */
static long oldest;            /* of those within a second */
static long arrived, answered, most, collapses;
static int64_t first_at, down_until;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

static void reset(int fd)
{
	struct linger linger = { .l_onoff = 1 };

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	close(fd);
}

static void arrive(int fd, long edge, int64_t now)
{
	long within;

	arrivals[arrived++ % MOST] = now;
	while (arrived - oldest > MOST || arrivals[oldest % MOST] <= now - SECOND)
		oldest++;
	within = arrived - oldest;
	if (within > most)
		most = within;
	if (within > edge && now >= down_until) {
		collapses++;
		down_until = now + 2 * SECOND;
		while (head != tail)
			reset(queue[head++ % MOST]);
	}
	if (now < down_until || tail - head == MOST)
		reset(fd);
	else
		queue[tail++ % MOST] = fd;
}

static void answer(int fd, int64_t now)
{
	char request;

	/* A connection whose client has not spoken yet is not waited for. */
	if (recv(fd, &request, 1, MSG_DONTWAIT) == 1 || errno == EAGAIN)
		send(fd, "!", 1, MSG_NOSIGNAL);
	close(fd);
	answered++;
	if (!first_at)
		first_at = now;
}

static void obey(void)
{
	char order[64];

	if (!fgets(order, sizeof(order), stdin))
		exit(0);
	printf("%ld %ld %ld %ld %lld\n", arrived, answered, most, collapses, (long long)first_at);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct rlimit files = { MOST, MOST };
	struct pollfd wanted[2];
	int64_t due = 0, each;
	int on = 1, listener;
	long edge;

	if (argc != 4 || atol(argv[2]) < 1) {
		fputs("usage: server PORT RATE EDGE\n", stderr);
		return 2;
	}
	at.sin_port = htons((uint16_t)atol(argv[1]));
	each = SECOND / atol(argv[2]);
	edge = atol(argv[3]);
	setrlimit(RLIMIT_NOFILE, &files);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 4096)) {
		perror("server");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	wanted[0] = (struct pollfd) { .fd = listener, .events = POLLIN };
	wanted[1] = (struct pollfd) { .fd = STDIN_FILENO, .events = POLLIN };
	for (;;) {
		int64_t now = now_ns();
		int fd;

		for (; head != tail && due <= now; due += each)
			answer(queue[head++ % MOST], now);
		poll(wanted, 2, head == tail ? -1 : 1);
		now = now_ns();
		if (head == tail && due < now) /* it saves nothing up */
			due = now;
		if (wanted[0].revents)
			for (int i = 0;
			     i < TURN && (fd = accept4(listener, NULL, NULL,
			                               SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;
			     i++)
				arrive(fd, edge, now);
		if (wanted[1].revents)
			obey();
	}
}
