/* SPDX-License-Identifier: MIT */
/*
 * Timeouts: calls that block for as long as the kernel or the peer likes end after a time
 * that the policy says. Not in mode = observe, which changes nothing. Never on a descriptor that is
 * not a connection which the program made, nor on one that does not block. Async-signal-safe;
 * siglongjmp and cancellation may end it anywhere.
 */
#ifndef RETRYBUDGET_PACE_TIMEOUTS_H
#define RETRYBUDGET_PACE_TIMEOUTS_H

#include "conn/attempt.h"

/* Of a policy with a connect_timeout. */
void timeouts_set(struct attempt *try);

/* connect_timeout: before a connect, or a send that connects, which has been started. */
static inline void timeouts_begin(struct attempt *try)
{
	if (!try->unjudged && try->account.policy->connect_timeout > 0)
		timeouts_set(try);
}

/* After timeouts_again() found a bound of ours. */
bool timeouts_go_on(const struct attempt *try, ssize_t result);

/* After the real call, errno as it left it. True: a handler with SA_RESTART ended the call, which
 * without our bound would have been restarted: make it again. Otherwise errno is what the program
 * is told. */
static inline bool timeouts_again(const struct attempt *try, ssize_t result)
{
	const struct socket_entry *entry;

	if (!try->timed && !try->unjudged)
		return false;
	entry = socket_find(try->fd);
	return entry && LOAD(entry->traits) & TRAIT_BOUNDED && timeouts_go_on(try, result);
}

#endif
