/* SPDX-License-Identifier: MIT */
/* What the hooks on calls that carry data share. */
#ifndef RETRYBUDGET_HOOK_DATA_H
#define RETRYBUDGET_HOOK_DATA_H

#include "conn/sockets.h"
#include "conn/traffic.h"
#include "hook/hook.h"

#define READ_UNWATCHED(fd)  likely(!(socket_watched(fd) & WATCH_READ))
#define WRITE_UNWATCHED(fd) likely(!(socket_watched(fd) & WATCH_WRITE))

/* Of a number that is watched for reading: datagrams have the bit too. */
#define IS_TIMED(watched) (!likely(!((watched)&WATCH_TIMED)))

/* Of such a number: UDP that may be a service's (conn/asked_by.h). */
#define IS_ASKED(fd) (socket_watched(fd) & WATCH_SERVER)

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

#endif
