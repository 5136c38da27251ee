/* SPDX-License-Identifier: MIT */
/*
 * Counting over a moving window on 64-bit atomics: the window is cut into SLICES slices of time,
 * and a ring of cells counts one slice each. All-zero is a valid, empty ring. Each cell holds the
 * number of its slice beside its count, so that the two change together, a cell of an earlier lap
 * counts as empty, and nobody ever has to clear one. A death at any instruction loses one count at
 * most.
 *
 * A slice is counted whole or not at all: ask for SLICES + 1 of them where too much must be counted
 * rather than too little, for SLICES where too little.
 *
 * A window whose length has been changed forgets what it has counted; two processes that share a
 * ring but not the length make each other forget.
 *
 * A thread that is stopped between its clock and its call for longer than a window, while others
 * count on, no longer finds what they counted at its time: it may let one retry too many go.
 *
 * All functions: thread-safe, async-signal-safe, lock-free, pure. Any bit pattern is valid.
 */
#ifndef RETRYBUDGET_BUDGET_SLICES_H
#define RETRYBUDGET_BUDGET_SLICES_H

#include "budget/bucket.h"

#include <stddef.h>

#define SLICES      10
#define SLICES_RING (SLICES + 2) /* one more for the slice that ends, one for a later clock */

/* Slices ahead of `now` that count as well, where too much must be: rivals whose clock was read
 * later have counted there. */
#define SLICES_AHEAD SLICES

#define SLICE_COUNT_MAX INT64_C(4294967295)

/* Windows are clamped to these. */
#define WINDOW_MIN (NS_PER_S / 10)
#define WINDOW_MAX (INT64_C(24) * 3600 * NS_PER_S)

#define SLICES_SECONDS (SLICES * NS_PER_S)

struct slices {
	cell64 cells[SLICES_RING]; /* number of the slice << 32 | count */
};

/* Counts n in the slice that `at` lies in; n < 0 takes away, down to 0. Nothing of a slice that has
 * left the ring can be taken away. */
void slices_add(struct slices *slices, int64_t window, int64_t n, int64_t at);

/* One more, of a window of SLICES_SECONDS: for the path of every attempt. */
static inline void slices_count(struct slices *slices, int64_t at)
{
	uint32_t number = (uint32_t)((at < 0 ? 0 : at) / NS_PER_S);
	cell64 *cell = &slices->cells[number % SLICES_RING];
	int64_t seen = atomic_load(cell);

	if ((uint64_t)seen >> 32 != number || (seen & UINT32_MAX) == SLICE_COUNT_MAX ||
	    !atomic_compare_exchange_strong(cell, &seen, seen + 1))
		slices_add(slices, SLICES_SECONDS, 1, at);
}

/* Takes n away from the newest slices that have any. */
void slices_undo(struct slices *slices, int64_t n);

/* The sum over the slices that are `youngest` to `oldest` slices old at `now`. 0 is the slice that
 * `now` lies in, less is what rivals with a later clock have counted. */
int64_t slices_sum(const struct slices *slices, int64_t window, int youngest, int oldest,
                   int64_t now);

/* ns from now until the n-th slice from now begins; n = 0: 0. */
int64_t slices_until(int64_t window, int n, int64_t now);

/* What surely lies within the last `window`, and what includes all of it. */
static inline int64_t slices_within(const struct slices *slices, int64_t window, int64_t now)
{
	return slices_sum(slices, window, 0, SLICES - 1, now);
}

static inline int64_t slices_covering(const struct slices *slices, int64_t window, int64_t now)
{
	return slices_sum(slices, window, -SLICES_AHEAD, SLICES, now);
}

#endif
