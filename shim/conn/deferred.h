/* SPDX-License-Identifier: MIT */
/*
 * Connections whose verdict was put off to their first request (pace/defer.h). Where what fails are
 * requests, a connect does not tell whether it is for one that has failed or for other work of its
 * thread; the request does. Async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_DEFERRED_H
#define RETRYBUDGET_CONN_DEFERRED_H

#include "conn/attempt.h"

/* True if nothing has been sent on it yet, and its first request is to be judged. */
static inline bool deferred_waits(const struct socket_entry *entry)
{
	enum socket_state state = LOAD(entry->state);

	return (LOAD(entry->traits) & (TRAIT_REPLY_FAILED | TRAIT_SERVED)) == TRAIT_REPLY_FAILED &&
	       (state == SOCKET_OPEN || state == SOCKET_CONNECTING);
}

/* Judges its first request, which is about to be sent. fingerprint: of the request, 0 = not known;
 * flags: as for send. False: it is other work, or nobody can say, and goes. */
bool deferred_begin(struct attempt *try, int fd, struct socket_entry *entry, uint32_t fingerprint,
                    int flags);

#endif
