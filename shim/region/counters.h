/* SPDX-License-Identifier: MIT */
/* One function for each event that is counted for a destination and for all together. Slow paths
 * only; async-signal-safe. */
#ifndef RETRYBUDGET_REGION_COUNTERS_H
#define RETRYBUDGET_REGION_COUNTERS_H

#include "region/region.h"

/* Once for each attempt that was answered. */
static inline void count_answered(struct region *region, struct destination *of, bool retry)
{
	count(&of->tally.answered[retry]);
	count(&region->tally.answered[retry]);
}

static inline void count_failed(struct region *region, struct destination *of, bool retry)
{
	count(&of->tally.failed[retry]);
	count(&region->tally.failed[retry]);
}

/* avoided: it does not go. parked: the host is told later. */
static inline void count_refused(struct region *region, struct destination *of, bool avoided,
                                 bool parked, bool exhausted)
{
	if (avoided) {
		count(&of->tally.avoided);
		count(&region->tally.avoided);
	}
	if (avoided && parked) {
		count(&of->tally.parked);
		count(&region->tally.parked);
	}
	if (exhausted) {
		count(&of->tally.exhausted);
		count(&region->tally.exhausted);
	}
}

static inline void count_breaker(struct region *region, struct destination *of,
                                 enum breaker_change change)
{
	if (change < BREAKER_OPENED || change > BREAKER_CLOSED)
		return;
	count(&of->tally.breaker[change - BREAKER_OPENED]);
	count(&region->tally.breaker[change - BREAKER_OPENED]);
}

/* Which place of `waits` a wait goes to. ns: not negative. */
static inline int wait_place(int64_t ns)
{
	int64_t ms = ns / NS_PER_MS;
	int bits = ms ? 64 - __builtin_clzll((uint64_t)ms) : 0;

	return bits < REGION_WAITS ? bits : REGION_WAITS - 1;
}

/* Nothing for one that did not wait. */
static inline void count_wait(struct region *region, struct destination *of, int64_t ns)
{
	int place;

	if (ns <= 0)
		return;
	place = wait_place(ns);
	count(&of->tally.waits[place]);
	count(&region->tally.waits[place]);
	atomic_fetch_add_explicit(&of->tally.waited_ns, ns, memory_order_relaxed);
	atomic_fetch_add_explicit(&region->tally.waited_ns, ns, memory_order_relaxed);
}

#endif
