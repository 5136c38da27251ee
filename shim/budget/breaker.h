/* SPDX-License-Identifier: MIT */
/*
 * The circuit breaker of one destination. Closed, it counts; once enough goes wrong it opens, and
 * nothing goes, first tries neither; after `open` it is half open, and `probes` attempts at a time
 * go to see how it is: a failure opens it again, `successes` in a row close it.
 *
 * Sources: M. Nygard, Release It! (Pragmatic Bookshelf, 2007), Circuit Breaker; the triggers by
 * failures in a row and by failure rate with a minimum of calls are those of Resilience4j, Failsafe
 * and Polly.
 *
 * What is ours: no lock-out. An open time ends by the clock alone. A probe whose outcome never
 * comes, since its process was killed or nobody closed its socket, is forgotten after another open
 * time. Only probes decide a half-open breaker: what was begun before it opened, and ends late,
 * says how things were then.
 *
 * The state is one word, so that each change has one author, who reports it. All functions:
 * thread-safe, async-signal-safe, lock-free, pure; a death at any instruction leaves a valid
 * breaker, and so does any bit pattern. Times are ns. With rule->on false they change nothing and
 * let everything go.
 */
#ifndef RETRYBUDGET_BUDGET_BREAKER_H
#define RETRYBUDGET_BUDGET_BREAKER_H

#include "budget/slices.h"

/* All-zero is a valid breaker: closed, nothing counted. */
struct breaker {
	cell64 state;            /* breaker.c; 0: closed, and no failure in a row */
	struct slices good, bad; /* outcomes while closed, over the rule's window */
	struct slices probes;    /* in flight, over its open time */
};

enum breaker_change {
	BREAKER_AS_IT_WAS,
	BREAKER_OPENED,
	BREAKER_HALF_OPENED,
	BREAKER_CLOSED,
};

enum breaker_verdict {
	BREAKER_GO,
	BREAKER_PROBE, /* go, holding a permit: breaker_released() when the attempt is over */
	BREAKER_HOLD,
};

/* ns until it is worth asking (0 = now): the rest of the open time; while all probes are under way
 * a part of it. */
int64_t breaker_wait(struct breaker *breaker, const struct breaker_rule *rule, int64_t now);

/* May an attempt go? *change: what that has changed, for whoever reports it. */
enum breaker_verdict breaker_ask(struct breaker *breaker, const struct breaker_rule *rule,
                                 int64_t now, enum breaker_change *change);

/* An attempt that had a permit is over, or was not made. at: when it was given. */
void breaker_released(struct breaker *breaker, const struct breaker_rule *rule, int64_t at);

/* Outcomes. probe: of an attempt that was let go with BREAKER_PROBE. */
enum breaker_change breaker_failed(struct breaker *breaker, const struct breaker_rule *rule,
                                   bool probe, int64_t now, uint64_t *random);
enum breaker_change breaker_succeeded(struct breaker *breaker, const struct breaker_rule *rule,
                                      bool probe, int64_t now);

static inline bool breaker_is_closed(const struct breaker *breaker)
{
	return (LOAD(breaker->state) & 3) == 0;
}

/* True while it throttles, first tries too. Reads only. */
static inline bool breaker_not_closed(const struct breaker *breaker,
                                      const struct breaker_rule *rule)
{
	return rule->on && !breaker_is_closed(breaker);
}

/* True if one more success may count for something. Reads only. */
static inline bool breaker_counts_success(const struct breaker *breaker,
                                          const struct breaker_rule *rule)
{
	return rule->on && (rule->rate > 0 || LOAD(breaker->state) != 0);
}

#endif
