/* SPDX-License-Identifier: MIT */
/*
 * What the outcome of an attempt does to a budget: failures in a row are a streak, which draws the
 * gate and which the next success ends. Thread-safe and async-signal-safe.
 */
#ifndef RETRYBUDGET_BUDGET_STREAK_H
#define RETRYBUDGET_BUDGET_STREAK_H

#include "budget/budget.h"

/* Counts a failure. retry: the attempt was itself a retry (the streak grows by those; a first try
 * that fails only starts it). Draws the gate, but not for the failure that starts the streak; nor
 * for an attempt that was let through (began, ns) before the gate that stands was drawn: of many
 * draws for one moment the shortest, or the longest, would hold. No delay is longer than the streak
 * is old, or `base`: a blip of a second costs a second. Returns the new streak (>= 1).
 */
int64_t budget_failure(const struct account *account, bool retry, int64_t began, int64_t now,
                       uint64_t *random);

/* Said before a failure is counted: how many attempts were answered there, ever. */
void budget_answered_before(const struct account *account, int64_t answered, int64_t now);

/* The failure that was counted now (the same `now`) came about at `at` and was seen only now, as
 * that of a datagram is by the one that repeats it: the gate counts from then. */
void budget_failed_before(const struct account *account, int64_t at, int64_t now);

/* Counts a live success: earns in both, ends the streak. Returns the streak it ended (0 = none):
 * of callers that race exactly one is told, and reports the recovery. */
int64_t budget_success(const struct account *account, int64_t now);

/* The success, counted next, is that of a retry; it took so many ns. */
static inline void budget_retry_answered(const struct account *account, int64_t took)
{
	ramp_answered(&account->budget->ramp, took);
}

/* Notes that the server asked for no retry in the next `wanted` ns (Retry-After; what is more than
 * the policy's cap is cut). */
void budget_retry_after(const struct account *account, int64_t wanted, int64_t now);

#endif
