/* SPDX-License-Identifier: MIT */
/*
 * A program that wants one connection, and keeps it: it tries again and again, PAUSE-MS apart,
 * until it is answered; when the connection is lost it begins anew. It is what many a worker, agent
 * or subscriber does.
 *
 * Usage: loop PORT PAUSE-MS SECONDS [NAME [START [PATIENCE-MS]]]
 * NAME: it asks the resolver for this host before each try; else it is loopback. With PAUSE-MS of
 * -1 it ends with status 1 at the first failure, as a service does that is to be restarted. START:
 * seconds until it begins. PATIENCE-MS: how long a connect may take (1000); 0: as long as it takes;
 * below 0: so long, of a connect that does not block.
 *
 * Prints a line for each connection that it wanted: h MILLISECONDS ok, or NEVER.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_S = 1 };

static long patience_ms = TIMEOUT_S * 1000;

static double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool find(const char *name, struct sockaddr_in *at)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *found;

	if (getaddrinfo(name, NULL, &hints, &found) != 0)
		return false;
	at->sin_addr = ((struct sockaddr_in *)found->ai_addr)->sin_addr;
	freeaddrinfo(found);
	return true;
}

static bool is_answered(int fd)
{
	char reply[512] = "";

	return recv(fd, reply, sizeof(reply) - 1, 0) > 0 && strncmp(reply, "HTTP/1.1 200", 12) == 0;
}

static bool reaches(int fd, const struct sockaddr_in *at)
{
	long limit_ms = labs(patience_ms);
	const struct timeval limit = { limit_ms / 1000, limit_ms % 1000 * 1000 };
	struct pollfd ready = { fd, POLLOUT, 0 };
	socklen_t size = sizeof(int);
	int error = ETIMEDOUT;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (patience_ms >= 0)
		return connect(fd, (const struct sockaddr *)at, sizeof(*at)) == 0;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (connect(fd, (const struct sockaddr *)at, sizeof(*at)) != 0 && errno != EINPROGRESS)
		return false;
	if (poll(&ready, 1, (int)limit_ms) == 1)
		getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	fcntl(fd, F_SETFL, 0);
	return error == 0;
}

/* A connection that was answered, or -1. */
static int connected(const struct sockaddr_in *at)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
	const struct timeval limit = { .tv_sec = TIMEOUT_S };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	if (reaches(fd, at) && send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0 &&
	    is_answered(fd))
		return fd;
	close(fd);
	return -1;
}

static void wait_for_its_end(int fd, double until)
{
	double left;
	char byte;

	while ((left = until - seconds_now()) > 0) {
		const struct timeval limit = { (long)left, (long)(left * 1e6) % 1000000 + 1 };

		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		if (recv(fd, &byte, 1, 0) >= 0 || seconds_now() < until)
			break;
	}
	close(fd);
}

static void say(double since, bool good)
{
	printf("h %.1f %s\n", (seconds_now() - since) * 1e3, good ? "ok" : "NEVER");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	double until, since;
	long pause_ms;

	if (argc < 4) {
		fputs("usage: loop PORT PAUSE-MS SECONDS [NAME [START [PATIENCE-MS]]]\n", stderr);
		return 2;
	}
	at.sin_port = htons((uint16_t)atoi(argv[1]));
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	pause_ms = atol(argv[2]);
	until = seconds_now() + atof(argv[3]);
	if (argc > 5)
		usleep((useconds_t)(atof(argv[5]) * 1e6));
	if (argc > 6)
		patience_ms = atol(argv[6]);
	since = seconds_now();
	while (seconds_now() < until) {
		int fd = argc > 4 && *argv[4] && !find(argv[4], &at) ? -1 : connected(&at);

		if (fd >= 0) {
			say(since, true);
			wait_for_its_end(fd, until);
			since = seconds_now();
			continue;
		}
		if (pause_ms < 0)
			return 1;
		nanosleep(&(struct timespec) { pause_ms / 1000, pause_ms % 1000 * 1000000 }, NULL);
		if (seconds_now() >= until)
			say(since, false);
	}
	return 0;
}
