/* SPDX-License-Identifier: MIT */
/*
 * What reads and writes tell of a connection. Called after the real call on the few numbers that
 * are watched; everything else never gets here. Both return `result` and leave errno as it was, so
 * that a hook can end in them. Async-signal-safe.
 */
#ifndef RETRYBUDGET_TRACK_TRAFFIC_H
#define RETRYBUDGET_TRACK_TRAFFIC_H

#include <stddef.h>
#include <sys/types.h>

/* wanted: bytes asked for; flags: as for recv, 0 for read. */
ssize_t traffic_received(int fd, ssize_t result, size_t wanted, int flags);

/* data: n bytes that the host gave to be sent, the first of them; looked at only up to result. */
ssize_t traffic_sent(int fd, ssize_t result, int flags, const void *data, size_t n);

#endif
