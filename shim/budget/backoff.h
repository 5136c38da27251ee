/* SPDX-License-Identifier: MIT */
/*
 * Exponential backoff with jitter, and the generator the jitter draws from.
 *
 * Source of the rules: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015:
 * full U(0, e), equal e/2 + U(0, e/2), decorrelated min(cap, U(base, 3 * previous)).
 */
#ifndef RETRYBUDGET_BUDGET_BACKOFF_H
#define RETRYBUDGET_BUDGET_BACKOFF_H

#include "budget/policy.h"

/* splitmix64: one step of *state gives 64 good bits. Any seed is valid. */
uint64_t random_next(uint64_t *state);

/* A uniform value in 0..limit (both included); limit < 0 counts as 0. */
int64_t random_upto(uint64_t *state, int64_t limit);

/* min(cap, base * factor^streak), saturating; streak >= 0. */
int64_t backoff_ceiling(const struct backoff_rule *rule, int64_t streak);

/* The delay in ns before a retry that answers `streak` failures in a row, within min..cap (min
 * wins over cap). previous: ns, the delay before the failure answered, 0 if none; only decorrelated
 * looks at it. Full draws U(min, ceiling). */
int64_t backoff_delay(const struct backoff_rule *rule, int64_t streak, int64_t previous,
                      uint64_t *random);

#endif
