/* SPDX-License-Identifier: MIT */
/*
 * Requests by datagram, to destinations whose policy says udp = on. A datagram is an attempt; its
 * outcome is a datagram that comes back, an ICMP error, or the program's timeout (datagrams.h).
 * A request sent in pieces (MSG_MORE, UDP_CORK), or to many at once (broadcast, multicast), is not
 * judged. All functions: thread-safe, async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_DATAGRAM_H
#define RETRYBUDGET_CONN_DATAGRAM_H

#include "conn/attempt.h"
#include "conn/datagrams.h"

#include <sys/uio.h>

struct datagram {
	struct attempt try;
	struct sent_datagram sent;
	struct sockaddr_storage peer; /* of a connected socket */
	const struct iovec *parts;
	size_t count, size; /* of parts; bytes in all */
};

/* Begins a send of one datagram. parts: the program's, which must stay; to: NULL on a connected
 * socket. False: not ours to judge, nothing has been noted and errno is untouched. */
bool datagram_begin(struct datagram *datagram, int fd, const struct iovec *parts, size_t count,
                    int flags, const struct sockaddr *to, socklen_t len);

/* Notes how the real send ended and returns its result, errno as the call left it. */
ssize_t datagram_settle(struct datagram *datagram, ssize_t result);

/* What the program gets for one that was dropped: datagrams may be lost. */
ssize_t datagram_swallowed(const struct datagram *datagram);

/* After a receive on a number with WATCH_DATAGRAM. from: whom it came from, NULL if the program did
 * not ask. Returns result and leaves errno as it was. */
ssize_t datagram_received(int fd, ssize_t result, int flags, const struct sockaddr *from,
                          socklen_t len, const struct iovec *parts, size_t count);

/* The program gives the number up. */
void datagram_end(int fd);

#endif
