/* SPDX-License-Identifier: MIT */
/* What the hooks on calls that carry data share. */
#ifndef RETRYBUDGET_HOOK_DATA_H
#define RETRYBUDGET_HOOK_DATA_H

#include "conn/sockets.h"
#include "conn/traffic.h"
#include "hook/hook.h"

#include <errno.h>

#define READS(fd)  likely(!(socket_watched(fd) & WATCH_READ))
#define WRITES(fd) likely(!(socket_watched(fd) & WATCH_WRITE))

/* Of a number that is watched for reading: datagrams have the bit too. */
#define IS_TIMED(watched) (!likely(!((watched)&WATCH_TIMED)))

/* How much room the program gave: a read of nothing into nothing is not the end of a connection.
 * Only looked at after a call that returned 0, when the kernel has read the same memory. */
static inline size_t room(ssize_t result, const struct iovec *parts, size_t n)
{
	size_t sum = 0;

	if (result != 0)
		return 1;
	for (size_t i = 0; i < n; i++)
		sum |= parts[i].iov_len;
	return sum;
}

/* send() and write() on a watched number, by whichever name: next is the real call of that name. */
ssize_t send_watched(ssize_t (*next)(int, const void *, size_t, int), int fd, const void *data,
                     size_t n, int flags);
ssize_t write_watched(ssize_t (*next)(int, const void *, size_t), int fd, const void *data,
                      size_t n);

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

#endif
