/* SPDX-License-Identifier: MIT */
/*
 * Carrying out a verdict (shim/VERDICT.md, Carrying out a verdict): the only room that waits for a
 * budget, parks or refuses.
 */
#ifndef RETRYBUDGET_PACE_PACE_H
#define RETRYBUDGET_PACE_PACE_H

#include "conn/attempt.h"
#include "conn/release.h"

/* pace() for an attempt that may be throttled; call that. */
bool pace_slowly(struct attempt *try);

/* Lets an attempt go now or after a wait (true), or throttles it (false; then try->told says what
 * the program is told: an errno, or an EAI_ code of a lookup). A cancellation point while it waits,
 * holding nothing; siglongjmp out of it loses neither a token nor the knowledge that a failure is
 * unanswered. Async-signal-safe. */
static inline bool pace(struct attempt *try)
{
	const struct account *account = &try->account;

	if (!try->quick &&
	    (try->rule != RULE_QUIET || account->policy->bounds_first ||
	     breaker_not_closed(&account->budget->breaker, &account->policy->breaker)))
		return pace_slowly(try);
	if (!try->fresh && try->fd >= 0)
		release_options_over(try->fd);
	return true;
}

#endif
