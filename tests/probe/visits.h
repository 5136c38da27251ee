/* SPDX-License-Identifier: MIT */
/* A server's clients, and what each of them saw. All on a network of the probe's own, port 8080. */
#ifndef RETRYBUDGET_TESTS_PROBE_VISITS_H
#define RETRYBUDGET_TESTS_PROBE_VISITS_H

#include "probe.h"

#include <stddef.h>

#define LISTEN_PORT 8080
#define REQUEST     "GET / HTTP/1.0\r\n\r\n"
#define HELLO       "hello\n"
#define BUSY                                                                                       \
	"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 7\r\nContent-Length: 0\r\n"              \
	"Connection: close\r\n\r\n"

enum seen {
	SERVED,
	TOLD,  /* the 503, byte for byte, and the end */
	RESET, /* nothing but a reset */
	ENDED, /* nothing but the end */
	OTHER,
	KINDS,
};

static inline const char *seen_name(enum seen seen)
{
	return (const char *[]) { "served", "503", "reset", "end", "other" }[seen];
}

/* A port of our own network, or the end of the probe where there can be none. */
static inline int admission_listener(int backlog)
{
	struct sockaddr_in address = loopback(LISTEN_PORT);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, backlog) != 0)
		give_up("listen");
	return fd;
}

static inline int unix_address(struct sockaddr_un *address)
{
	static const char name[] = "\0retrybudget-admission";

	*address = (struct sockaddr_un) { .sun_family = AF_UNIX };
	memcpy(address->sun_path, name, sizeof(name) - 1);
	return (int)(offsetof(struct sockaddr_un, sun_path) + sizeof(name) - 1);
}

#define WAS_RESET (-2) /* in place of a descriptor: before it could read */

/* Connects and sends a request. */
static inline int come(bool by_unix)
{
	struct sockaddr_in in = loopback(LISTEN_PORT);
	struct sockaddr_un un;
	socklen_t len = (socklen_t)unix_address(&un);
	int fd = socket(by_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

	if ((by_unix ? connect(fd, (struct sockaddr *)&un, len)
	             : connect(fd, (struct sockaddr *)&in, sizeof(in))) == 0 &&
	    (send(fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL) > 0 || errno == EPIPE))
		return fd;
	if (errno != ECONNRESET)
		give_up("connect");
	close(fd);
	return WAS_RESET;
}

/* Reads to the end, and says what it was. */
static inline enum seen outcome(int fd)
{
	struct timeval timeout = { .tv_sec = 4 };
	char data[512];
	size_t used = 0;
	ssize_t n;
	int err;

	if (fd == WAS_RESET)
		return RESET;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	while ((n = recv(fd, data + used, sizeof(data) - used - 1, 0)) > 0)
		used += (size_t)n;
	err = n < 0 ? errno : 0;
	data[used] = '\0';
	close(fd);
	if (used == 0)
		return err == ECONNRESET ? RESET : err == 0 ? ENDED : OTHER;
	return strcmp(data, HELLO) == 0 ? SERVED : strcmp(data, BUSY) == 0 ? TOLD : OTHER;
}

static inline void print_seen(const char *who, const int *seen)
{
	printf("%s:", who);
	for (int kind = 0; kind < KINDS; kind++)
		if (seen[kind] > 0)
			printf(" %s %d", seen_name((enum seen)kind), seen[kind]);
	printf("\n");
	fflush(stdout);
}

/* Serves one connection and closes it. */
static inline void serve_hello(int peer)
{
	char request[512];

	(void)!recv(peer, request, sizeof(request), 0);
	(void)!send(peer, HELLO, strlen(HELLO), MSG_NOSIGNAL);
	close(peer);
}

/* A child that makes n visits, one after the other, `after` ms from now, and then sends its parent
 * a signal, if one is given. What it saw is in *seen. */
static inline pid_t visitor(int n, bool by_unix, int after, int signal, int *seen)
{
	pid_t parent = getpid(), child = fork();

	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause_ms(after);
	for (int i = 0; i < n; i++)
		seen[outcome(come(by_unix))]++;
	if (signal != 0) {
		pause_ms(400); /* until it is back in accept */
		kill(parent, signal);
	}
	_exit(0);
}

#endif
