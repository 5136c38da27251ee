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
	cell64 failed;         /* failures of what has begun since the last success */
	cell64 started;        /* went on the start since the last success */
	cell64 usual;          /* attempts in the last ten seconds without a failure */
	cell64 usual_at;       /* when that was */
	cell64 before;         /* in a second then, and one; 0 = nothing was ever answered */
};

/* An attempt goes. */
static inline void allowance_tried(struct allowance *allowance, int64_t now)
{
	slices_count(&allowance->tries, now);
}

/* Said before a failure is: how many were answered, ever. While nothing fails nobody counts them
 * here, and where it is not known what is usual they tell how much is answered. */
void allowance_answered_before(struct allowance *allowance, int64_t answered, int64_t now);

/* Said before a failure on a connection that had been answered once: an attempt of that moment was,
 * and while nothing failed nobody has counted it. */
void allowance_note_answer(struct allowance *allowance, int64_t began);

/* An attempt succeeded, or failed; the one that failed had begun then. */
void allowance_answered(struct allowance *allowance, int64_t now);
void allowance_failed(struct allowance *allowance, int64_t began, int64_t now);

/* An attempt found no port of this machine to leave from. True if it says nothing of the
 * destination, which has answered within the last minute: a port that was used is free again after
 * so long. One that has not for longer may be out of reach for good (an address of IPv6 where there
 * is none), and says the same. answered: it has answered at all; where all was well nobody has
 * counted when. */
bool allowance_lacks_port(struct allowance *allowance, bool answered, int64_t now);

/* What is known of the program's work at a destination. */
enum workload {
	WORKLOAD_UNKNOWN,
	WORKLOAD_BOUNDED, /* it gives each piece up after a few tries: what it asks does not grow */
	WORKLOAD_MIXED    /* nearly all that is new is answered, and what fails does so by itself */
};

/* True if one more attempt of unknown kind may go; it is then counted by allowance_tried(). */
bool allowance_take(struct allowance *allowance, enum workload workload, int64_t now);

/* True if one more attempt would keep within the traffic that was usual before the destination
 * failed. */
bool allowance_is_usual(const struct allowance *allowance, int64_t now);

/* True if one more attempt is no more than were made there in a second when the destination failed,
 * or there was none for three seconds: as much as a program that is asked by others may ask for. */
bool allowance_is_as_before(const struct allowance *allowance, int64_t now);

/* True while the destination answers: a success within the last second, and at most six failures
 * since. */
bool allowance_is_answering(const struct allowance *allowance, int64_t now);

/* The same with thirty failures instead of six: where one thing is tried in vain beside others that
 * are answered, many failures in a row say nothing of the destination. */
bool allowance_is_answering_mixed(const struct allowance *allowance, int64_t now);

/* The same with a success within the window: who starts a process for each try makes few of them in
 * a second, and six failures are as few as ever. */
bool allowance_is_answering_slowly(const struct allowance *allowance, int64_t now);

/* True if one more connect may go whose request is judged instead (pace/defer.h), beside `deferred`
 * of this second: twenty for each answer, as of work that is bounded, or, where what failed was
 * tried more than a few times, a tenth of one, as an answer earns a retry. */
bool allowance_defers(const struct allowance *allowance, bool few, int64_t deferred, int64_t now);

/* Failures since the last success that say little of a destination which has answered. */
#define ALLOWANCE_FEW 10

/* True if it has answered, and failed no more than that since. */
static inline bool allowance_has_worked(const struct allowance *allowance)
{
	int64_t failed = LOAD(allowance->failed);

	return LOAD(allowance->before) > 0 && failed >= 0 && failed <= ALLOWANCE_FEW;
}

/* True if a success stands within the window. */
bool allowance_has_answer(const struct allowance *allowance, int64_t now);

#endif
