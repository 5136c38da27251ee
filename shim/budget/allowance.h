/* SPDX-License-Identifier: MIT */
/*
 * What may go to a failing destination although nobody can say whether it is new work or a repeat:
 * as much as the destination answers, and never less than it was used to get while all was well. A
 * destination that answers, however badly, keeps its usual traffic; one that answers nothing gets a
 * start that only a success renews, so that a storm of unknown kind ends after a handful.
 *
 * Counted over ten seconds, times in ns. All functions: thread-safe, async-signal-safe, lock-free,
 * pure. All-zero is valid, as is any bit pattern; a death at any instruction loses one count.
 */
#ifndef RETRYBUDGET_BUDGET_ALLOWANCE_H
#define RETRYBUDGET_BUDGET_ALLOWANCE_H

#include "budget/slices.h"

#include <stdbool.h>

#define ALLOWANCE_WINDOW SLICES_SECONDS
#define ALLOWANCE_START  5 /* since the last success, whatever else */

struct allowance {
	struct slices tries;   /* attempts that went */
	struct slices answers; /* successes, counted while failures are recent */
	cell64 watching;       /* a failure is recent: successes are worth counting */
	cell64 answered_at;    /* the last success that was counted, 0 = none */
	cell64 failed_at;      /* the last failure, 0 = none */
	cell64 failed;         /* failures since the last success */
	cell64 started;        /* went on the start since the last success */
	cell64 usual;          /* attempts in the last ten seconds without a failure */
	cell64 usual_at;       /* when that was */
};

/* An attempt goes. */
static inline void allowance_tried(struct allowance *allowance, int64_t now)
{
	slices_count(&allowance->tries, now);
}

/* An attempt succeeded, or failed. */
void allowance_answered(struct allowance *allowance, int64_t now);
void allowance_failed(struct allowance *allowance, int64_t now);

/* True if one more attempt of unknown kind may go; it is then counted by allowance_tried(). mixed:
 * nearly all new work is answered, and what fails does so by itself: twenty for each answer. */
bool allowance_take(struct allowance *allowance, bool mixed, int64_t now);

/* True if one more attempt would keep within the traffic that was usual before it failed. */
bool allowance_is_usual(const struct allowance *allowance, int64_t now);

/* True while the destination answers: a success within the last second, and at most six failures
 * since. */
bool allowance_is_answering(const struct allowance *allowance, int64_t now);

/* The same where one thing is tried in vain beside others that are answered: of its failures many
 * in a row say nothing, at most thirty. */
bool allowance_is_answering_mixed(const struct allowance *allowance, int64_t now);

/* True if a success stands within the window. */
bool allowance_has_answer(const struct allowance *allowance, int64_t now);

#endif
