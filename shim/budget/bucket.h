/* SPDX-License-Identifier: MIT */
/*
 * A token bucket on two 64-bit atomics. Every operation is lock-free and leaves a valid bucket
 * behind wherever its thread or process dies; values read from shared memory are clamped.
 *
 * Source of the rule: the retry token buckets of gRPC proposal A6 and of the AWS SDKs' standard
 * retry mode, plus a continuous time floor (their buckets lock a program out when copied into
 * connect(), where first tries cannot be told from retries for certain).
 *
 * All functions: thread-safe, async-signal-safe, pure (no clock, no I/O). Rules out of range are
 * clamped: capacity to 1..BUCKET_CAPACITY_MAX, floor to 0..BUCKET_FLOOR_MAX, shares to 0..100 %.
 */
#ifndef RETRYBUDGET_BUDGET_BUCKET_H
#define RETRYBUDGET_BUDGET_BUCKET_H

#include "budget/policy.h"
#include "sys/cell.h"

#include <stdbool.h>

#define BUCKET_CAPACITY_MAX INT64_C(1000000000) /* mt: a million tokens */
#define BUCKET_FLOOR_MAX    INT64_C(1000000000) /* mt per second */

/* All-zero is a valid bucket: a new one, worth rule->start of its capacity. */
struct bucket {
	cell64 holding;  /* capacity << 32 | tokens, both mt: always changed together; 0 = new */
	cell64 refilled; /* ns, the moment up to which the floor has been paid out; 0 = new */
};

/* Fills a bucket that nobody else uses yet with rule->start of its capacity. now: ns. Optional:
 * a bucket of zeroes fills itself, once, whoever comes first. */
void bucket_start(struct bucket *bucket, const struct bucket_rule *rule, int64_t now);

/* Pays out the floor up to now, then returns the level in mt, 0..capacity. A capacity that a reload
 * has changed keeps the fraction. A now before the last one pays nothing; one absurdly late fills
 * the bucket at most. */
int64_t bucket_level(struct bucket *bucket, const struct bucket_rule *rule, int64_t now);

/* The level in mt as it was last left, without the floor since then. Writes nothing: for tools
 * that map the region read-only. */
int64_t bucket_peek(const struct bucket *bucket, const struct bucket_rule *rule);

/* Takes cost mt all-or-nothing, if threshold remains afterwards; cost above capacity - threshold
 * counts as that much, so that an expensive retry stays possible. A threshold of the whole capacity
 * counts as 1 mt less. Returns the mt taken, or -1. */
int64_t bucket_withdraw(struct bucket *bucket, const struct bucket_rule *rule, int64_t cost,
                        int64_t now);

/* Puts mt back (a refund, or what a success earned), never above capacity. */
void bucket_deposit(struct bucket *bucket, const struct bucket_rule *rule, int64_t mt);

/* Takes cost mt, or what there is of it, threshold or not. */
void bucket_drain(struct bucket *bucket, const struct bucket_rule *rule, int64_t cost, int64_t now);

/* ns until the floor alone makes `cost` payable (0 = now, INT64_MAX = never): exact, a withdrawal
 * that comes so much later succeeds if nobody else has taken the tokens, and none before does. */
int64_t bucket_wait(struct bucket *bucket, const struct bucket_rule *rule, int64_t cost,
                    int64_t now);

/* True if what a success earns would change nothing. One relaxed load, no write: for the data
 * path. */
static inline bool bucket_full(const struct bucket *bucket, const struct bucket_rule *rule)
{
	uint64_t cell = (uint64_t)LOAD(bucket->holding);

	/* Full stays full when the capacity changes, so the rule's own need not be asked. */
	return rule->earn <= 0 || (cell != 0 && (cell & UINT32_MAX) >= cell >> 32);
}

#endif
