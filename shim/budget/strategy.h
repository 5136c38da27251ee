/* SPDX-License-Identifier: MIT */
/*
 * What decides about the retries of one destination: the interface that the strategies stand
 * behind. budget.c asks the one that the policy names, and then the process-wide bucket, which is
 * always a bucket. What overrides them all (probe, sample, max_attempts) is there too, and
 * in budget_wait.c.
 *
 * Every strategy is pure, lock-free, thread-safe and async-signal-safe, keeps its state in struct
 * budget (shared memory: all-zero is valid, what is read is clamped, a death at any instruction
 * leaves valid state), and never lets more go than its rule allows, whatever the race; races may
 * let less go.
 */
#ifndef RETRYBUDGET_BUDGET_STRATEGY_H
#define RETRYBUDGET_BUDGET_STRATEGY_H

#include "budget/budget.h"

enum event_kind {
	NOTE_FIRST_TRY, /* an attempt goes that needs no token */
	NOTE_SUCCESS,
	NOTE_FAILURE,
};

struct strategy_calls {
	/* ns until time alone would let a retry go, if nothing else happens: 0 = it may be asked
	 * for now, INT64_MAX = never. */
	int64_t (*wait)(const struct account *account, int64_t cost, int64_t now);
	/* Takes cost mt for one retry, all-or-nothing. Returns what was taken, or -1. */
	int64_t (*take)(const struct account *account, int64_t cost, int64_t now);
	/* Puts back what take() returned, or the cost it was asked for: the retry did not go, or
	 * (goes) the attempt goes or went, but was no retry. What the key `refund` gives for a
	 * retry that succeeds is note()'s. */
	void (*refund)(const struct account *account, int64_t mt, bool goes);
	/* Something happened. cost: of a retry that would answer a failure. */
	void (*note)(const struct account *account, enum event_kind kind, int64_t cost,
	             int64_t now);
	/* What is left to spend, and in *limit how much there can be; mt, for records. */
	int64_t (*level)(const struct account *account, int64_t now, int64_t *limit);
};

extern const struct strategy_calls strategy_bucket, strategy_window, strategy_adaptive,
    strategy_throttle, strategy_probabilistic, strategy_concurrency, strategy_lease;

/* The one that the policy names; the bucket if it names none that is known; the lease if it draws
 * on that. */
const struct strategy_calls *strategy_of(const struct policy *policy);

/* One instance's part of what all of them get together. */
static inline int64_t strategy_part(const struct policy *policy, int64_t of_all)
{
	if (of_all <= 0)
		return 0;
	return policy->instances > 1 ? of_all / policy->instances : of_all;
}

#endif
