/* SPDX-License-Identifier: MIT */
/* How a request by datagram ends: by one that comes back, or with its socket. Thread-safe,
 * async-signal-safe. */
#ifndef RETRYBUDGET_CONN_DATAGRAM_END_H
#define RETRYBUDGET_CONN_DATAGRAM_END_H

#include <sys/socket.h>
#include <sys/uio.h>

/* After a receive on a number with WATCH_DATAGRAM. from: whom it came from, NULL if the program did
 * not ask. Returns result and leaves errno as it was. */
ssize_t datagram_received(int fd, ssize_t result, int flags, const struct sockaddr *from,
                          socklen_t len, const struct iovec *parts, size_t count);

/* The program gives the number up. */
void datagram_end(int fd);

#endif
