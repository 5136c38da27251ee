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

/* What the end of such a request (datagram_end.c) needs of its beginning: */

/* The socket of a number, whichever number it has; never 0. One system call. */
uint64_t datagram_cookie(int fd);

/* Whom an address stands for, 0 = unknown. Without the scope, which the program may leave out where
 * the kernel tells it. Nobody has the address 0, and whoever gets what is sent there answers from
 * his own. */
uint64_t datagram_peer(const struct address *address);

/* Counts a datagram that was not answered. err: what the program was told of it, or 0. */
void datagram_failed(const struct sent_datagram *one, enum failure failure, int err);

/* What has been begun with MSG_MORE on a number goes with its socket. */
void datagram_forget_pieces(int fd);

#endif
