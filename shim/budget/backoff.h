/* SPDX-License-Identifier: MIT */
/*
 * Exponential backoff with jitter.
 *
 * Source of the rules: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015:
 * full U(0, e), equal e/2 + U(0, e/2), decorrelated min(cap, U(base, 3 * previous)).
 */
#ifndef RETRYBUDGET_BUDGET_BACKOFF_H
#define RETRYBUDGET_BUDGET_BACKOFF_H

#include "budget/policy.h"
#include "sys/random.h"

/* min(cap, base * factor^streak), saturating; streak >= 0. */
int64_t backoff_ceiling(const struct backoff_rule *rule, int64_t streak);

/* The delay in ns before a retry that answers `streak` failures in a row, within min..cap (min
 * wins over cap). previous: ns, the delay before the failure answered, 0 if none; only decorrelated
 * looks at it. Full draws U(min, ceiling). */
int64_t backoff_delay(const struct backoff_rule *rule, int64_t streak, int64_t previous,
                      uint64_t *random);

#endif
