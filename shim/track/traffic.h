/* SPDX-License-Identifier: MIT */
/*
 * What reads and writes tell of a connection. Called after the real call on the few numbers that
 * are watched; everything else never gets here. Both return `result` and leave errno as it was, so
 * that a hook can end in them. Async-signal-safe.
 */
#ifndef RETRYBUDGET_TRACK_TRAFFIC_H
#define RETRYBUDGET_TRACK_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* wanted: bytes asked for; flags: as for recv, 0 for read. */
ssize_t traffic_received(int fd, ssize_t result, size_t wanted, int flags);

/* What is to be known of a request before it is sent, for traffic_sent(): 0 for most. The parts of
 * a message: of the first of them. Nothing is read that the kernel could not read. */
uint32_t traffic_look(int fd, const void *data, size_t n);
uint32_t traffic_look_parts(int fd, const struct iovec *parts, size_t count);
uint32_t traffic_look_message(int fd, const struct msghdr *message);

/* print: as looked at before the call. */
ssize_t traffic_sent(int fd, ssize_t result, int flags, uint32_t print);

#endif
