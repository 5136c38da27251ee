/* SPDX-License-Identifier: MIT */
/* A listener that lets nobody in until it is asked to: the kernel drops every SYN, and holds up
 * every connect of the unix family, while its backlog is full. */
#ifndef RETRYBUDGET_TESTS_PROBE_BLACK_HOLE_H
#define RETRYBUDGET_TESTS_PROBE_BLACK_HOLE_H

#include "probe.h"

struct black_hole {
	struct sockaddr_storage at;
	socklen_t len;
	int listener;
};

/* The backlog is filled by raw calls, which are not the program's own attempts. */
static inline void fill_backlog(const struct black_hole *hole)
{
	for (int i = 0; i < 3; i++) {
		int fd = socket(hole->at.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

		syscall(SYS_connect, fd, &hole->at, hole->len);
	}
	pause_ms(50);
}

static inline void open_black_hole(struct black_hole *hole, int family)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&hole->at;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&hole->at;
	struct sockaddr_un *local = (struct sockaddr_un *)&hole->at;

	memset(hole, 0, sizeof(*hole));
	hole->at.ss_family = (sa_family_t)family;
	hole->len = sizeof(*v4);
	if (family == AF_INET) {
		v4->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	} else if (family == AF_INET6) {
		v6->sin6_addr = (struct in6_addr)IN6ADDR_LOOPBACK_INIT;
		hole->len = sizeof(*v6);
	} else {
		hole->len = (socklen_t)(sizeof(sa_family_t) + 1 +
		                        snprintf(local->sun_path + 1, 40, "hole.%d", getpid()));
	}
	hole->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (family == AF_INET6 && !there_is_ipv6())
		_exit(PROBE_CANNOT);
	if (hole->listener < 0 ||
	    bind(hole->listener, (struct sockaddr *)&hole->at, hole->len) != 0 ||
	    getsockname(hole->listener, (struct sockaddr *)&hole->at, &hole->len) != 0 ||
	    listen(hole->listener, 0) != 0)
		give_up("black hole");
	fill_backlog(hole);
}

/* From now on everybody gets in. */
static inline void open_up(const struct black_hole *hole)
{
	listen(hole->listener, 64);
	fcntl(hole->listener, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 3; i++)
		syscall(SYS_accept4, hole->listener, NULL, NULL, 0);
}

#endif
