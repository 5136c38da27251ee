/* SPDX-License-Identifier: MIT */
/*
 * What reads and writes tell of a connection. Called after the real call on the few numbers that
 * are watched; everything else never gets here. Both return `result` and leave errno as it was, so
 * that a hook can end in them. Async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_TRAFFIC_H
#define RETRYBUDGET_CONN_TRAFFIC_H

#include "conn/not_now.h"
#include "conn/sockets.h"
#include "conn/tls_session.h"
#include "region/state.h"
#include "sys/cell.h"

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>

/* Nothing has gone wrong anywhere since a success on this connection last changed nothing. */
static inline bool traffic_is_unchanged(const struct socket_entry *entry)
{
	return (uint32_t)LOAD(shim_region->changes) == LOAD(entry->seen_changes);
}

/* wanted: bytes asked for; flags: as for recv, 0 for read; data: where the kernel has just put what
 * was received, NULL if nowhere that can be looked at. */
ssize_t traffic_received(int fd, ssize_t result, size_t wanted, int flags, const void *data);

/* The same of a message in parts. */
ssize_t traffic_received_parts(int fd, ssize_t result, size_t wanted, int flags,
                               const struct iovec *parts, size_t count);

/* Begins the exchange of a kept connection on which all is well: then nothing need be looked at,
 * and nothing but traffic_went() has to hear of the request. Before the call, for another thread
 * may have the reply before that returns. */
static inline bool traffic_begins(int fd)
{
	return socket_exchange(fd, socket_at(fd), (uint32_t)LOAD(shim_region->changes),
	                       SOCKET_ANSWERED);
}

/* It did not go. */
ssize_t traffic_not_sent(int fd, ssize_t result, int flags);

static inline ssize_t traffic_went(int fd, ssize_t result, int flags)
{
	return result > 0 ? result : traffic_not_sent(fd, result, flags);
}

/* What is to be known of a request before it is sent, for traffic_sent(): 0 for most. The parts of
 * a message: of the first of them. Nothing is read that the kernel could not read. */
uint32_t traffic_look(int fd, const void *data, size_t n);
uint32_t traffic_look_parts(int fd, const struct iovec *parts, size_t count);
uint32_t traffic_look_message(int fd, const struct msghdr *message);

/* What stands for a fingerprint once the exchange has begun before the call; no request has it. */
#define TRAFFIC_BEGUN UINT32_MAX

/* True if nothing but traffic_sent() has to hear of a request. fingerprint: as looked at. */
static inline bool traffic_is_plain(int fd, uint32_t fingerprint)
{
	return fingerprint == 0 &&
	       !(LOAD(socket_at(fd)->traits) & (TRAIT_HTTP | TRAIT_REPLY_FAILED | TRAIT_CARRIER));
}

/* True if it may be one that failed before, on a kept connection or a deferred one: then it is to
 * be begun as an attempt. */
static inline bool traffic_may_retry(int fd, uint32_t fingerprint)
{
	return fingerprint || LOAD(socket_at(fd)->traits) & TRAIT_REPLY_FAILED;
}

/* Begins the exchange of a request on a connection whose replies are read (TRAIT_HTTP) before it is
 * sent: another thread may have the reply before the call returns, and its status would be taken
 * for something else. Returns what traffic_sent() is then given as the fingerprint. */
uint32_t traffic_begin(int fd, uint32_t fingerprint);

/* Notes whether the first bytes of a connection are a SOCKS client's offer. For traffic_wrote(). */
void traffic_look_for_offer(int fd, const void *data, size_t n);

/* Looks at what the kernel has just read from data, for traffic_sent(). After the call: to ask
 * before it whether the bytes can be read takes a system call. Returns result. */
static inline ssize_t traffic_wrote(int fd, ssize_t result, const void *data)
{
	if (not_now_may_be_offer(result))
		traffic_look_for_offer(fd, data, (size_t)result);
	return result;
}

/* fingerprint: as looked at before the call. */
ssize_t traffic_sent(int fd, ssize_t result, int flags, uint32_t fingerprint);

#endif
