/* SPDX-License-Identifier: MIT */
/* What the hooks on calls that carry data share. */
#ifndef RETRYBUDGET_HOOK_DATA_H
#define RETRYBUDGET_HOOK_DATA_H

#include "hook/hook.h"
#include "track/sockets.h"
#include "track/traffic.h"

#define READS(fd)  likely(!(socket_watched(fd) & WATCH_READ))
#define WRITES(fd) likely(!(socket_watched(fd) & WATCH_WRITE))

/* How much room the host gave: a read of nothing into nothing is not the end of a connection. Only
 * looked at after a call that returned 0, when the kernel has read the same memory. */
static inline size_t room(ssize_t result, const struct iovec *parts, size_t n)
{
	size_t sum = 0;

	if (result != 0)
		return 1;
	for (size_t i = 0; i < n; i++)
		sum |= parts[i].iov_len;
	return sum;
}

#endif
