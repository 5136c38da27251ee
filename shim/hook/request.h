/* SPDX-License-Identifier: MIT */
/* Requests that may be sent again on a kept connection: whether one may go, before its first byte.
 */
#ifndef RETRYBUDGET_HOOK_REQUEST_H
#define RETRYBUDGET_HOOK_REQUEST_H

#include "conn/traffic.h"
#include "sys/likely.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* True if a request must not be sent: then *result is -1, with errno set, or 0: the program is to
 * think that it went. Otherwise its exchange has begun, and *fingerprint (as looked at) is what
 * traffic_sent() wants. After a wait, perhaps; a cancellation point then. */
bool request_is_refused(int fd, uint32_t *fingerprint, int flags, ssize_t *result);

/* The same, cheaply where replies are not read; *result is what the call returns. n: the bytes of
 * the request, only counted if need be. */
#define REQUEST_REFUSED(fd, fingerprint, flags, n, result)                                         \
	(!likely(traffic_is_plain(fd, *(fingerprint))) &&                                          \
	 request_is_refused(fd, fingerprint, flags, result) &&                                     \
	 (*(result) = *(result) < 0 ? -1 : (ssize_t)(n), true))

/* What sendfile and splice return for a request that is not sent: that bytes went they cannot say,
 * or they would have to be taken from their source. */
static inline ssize_t file_refused(ssize_t result)
{
	if (result >= 0)
		errno = ECONNRESET;
	return -1;
}

/* The bytes in a message, or in its parts; 0 if they cannot be read. */
size_t message_size(const struct msghdr *message);
size_t parts_size(const struct iovec *parts, size_t count);

/* A request inside TLS is about to be encrypted, for a session that fd carries: judged, paced and
 * begun. If it must not be sent, what carries it is not (conn/tls_session.h). Returns what
 * tls_traffic_sent() wants as the fingerprint. errno is left alone. */
uint32_t request_begin_inside(int fd, const void *data, size_t n);

#endif
