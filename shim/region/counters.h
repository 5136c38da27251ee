/* SPDX-License-Identifier: MIT */
/* One function for each event that is counted for a destination and for all together. Slow paths
 * only; async-signal-safe. */
#ifndef RETRYBUDGET_REGION_COUNTERS_H
#define RETRYBUDGET_REGION_COUNTERS_H

#include "region/region.h"

/* Once for each attempt that was answered. */
static inline void count_answered(struct tally *all, struct destination *of, bool retry)
{
	count(&of->tally.answered[retry]);
	count(&all->answered[retry]);
}

static inline void count_failed(struct tally *all, struct destination *of, bool retry)
{
	count(&of->tally.failed[retry]);
	count(&all->failed[retry]);
}

/* Which rule has said what an attempt is: its place in the list. */
static inline void count_rule(struct tally *all, struct destination *of, size_t rule)
{
	if (rule >= REGION_RULES)
		return;
	count(&of->tally.rules[rule]);
	count(&all->rules[rule]);
}

/* avoided: it does not go. parked: the program is told later. */
static inline void count_refused(struct tally *all, struct destination *of, bool avoided,
                                 bool parked, bool exhausted)
{
	if (avoided) {
		count(&of->tally.avoided);
		count(&all->avoided);
	}
	if (avoided && parked) {
		count(&of->tally.parked);
		count(&all->parked);
	}
	if (exhausted) {
		count(&of->tally.exhausted);
		count(&all->exhausted);
	}
}

static inline void count_breaker(struct tally *all, struct destination *of,
                                 enum breaker_change change)
{
	if (change < BREAKER_OPENED || change > BREAKER_CLOSED)
		return;
	count(&of->tally.breaker[change - BREAKER_OPENED]);
	count(&all->breaker[change - BREAKER_OPENED]);
}

/* Which place of a histogram a time goes to. ns: not negative. */
static inline int time_place(int64_t ns)
{
	int64_t ms = ns / NS_PER_MS;
	int bits = ms ? 64 - __builtin_clzll((uint64_t)ms) : 0;

	return bits < REGION_TIMES ? bits : REGION_TIMES - 1;
}

static inline void count_time(struct times *times, int64_t ns)
{
	count(&times->counts[time_place(ns)]);
	atomic_fetch_add_explicit(&times->sum, ns, memory_order_relaxed);
}

/* Nothing for one that did not wait. */
static inline void count_wait(struct tally *all, struct destination *of, int64_t ns)
{
	if (ns <= 0)
		return;
	count_time(&of->tally.waits, ns);
	count_time(&all->waits, ns);
}

/* The gate was drawn for so long. Shared memory may make it negative. */
static inline void count_delay(struct tally *all, struct destination *of, int64_t ns)
{
	if (ns < 0)
		return;
	count_time(&of->tally.delays, ns);
	count_time(&all->delays, ns);
}

/* A streak has ended that began so long ago. */
static inline void count_recovery(struct tally *all, struct destination *of, int64_t ns)
{
	if (ns < 0)
		return;
	count_time(&of->tally.recoveries, ns);
	count_time(&all->recoveries, ns);
}

/* A reply failed by this HTTP status. 0: it was no HTTP. */
static inline void count_status(struct tally *all, struct destination *of, int status)
{
	static const short known[STATUS_OTHER] = { 429, 500, 502, 503, 504 };
	int place = 0;

	if (status <= 0)
		return;
	while (place < STATUS_OTHER && known[place] != status)
		place++;
	count(&of->tally.statuses[place]);
	count(&all->statuses[place]);
}

#endif
