/* SPDX-License-Identifier: MIT */
/*
 * How long one streak has been held back in all, for `deadline`. Waits that overlap, of many
 * callers at once, count once: no caller is held longer than this says, and a loop that starts a
 * process for each attempt is one caller. All-zero: not at all. A wait is noted when it begins,
 * since a jump out of it tells nobody; what one that ends early had left is taken back if no other
 * has counted on it.
 *
 * All functions: thread-safe, async-signal-safe, pure. Any bit pattern is valid; a death at any
 * instruction loses the time of one wait at most.
 */
#ifndef RETRYBUDGET_BUDGET_HOLD_H
#define RETRYBUDGET_BUDGET_HOLD_H

#include "budget/cell.h"
#include "budget/policy.h"

struct hold {
	cell64 spent; /* ns */
	cell64 until; /* ns, the end of the last wait that has been noted, 0 = none */
};

/* ns that the streak may still be held back; INT64_MAX without a deadline (0). */
int64_t hold_left(const struct hold *hold, int64_t deadline);

/* A wait begins that is to last from `from` to `to`. longest: ns that any wait may last; an end
 * further off than that has been scribbled there, and hides nothing. */
void hold_begin(struct hold *hold, int64_t from, int64_t to, int64_t longest);

/* That wait, meant to last to `to`, ended at `now`. */
void hold_cut(struct hold *hold, int64_t to, int64_t now);

/* The streak is over. */
void hold_end(struct hold *hold);

#endif
