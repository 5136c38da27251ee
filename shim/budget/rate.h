/* SPDX-License-Identifier: MIT */
/* The policy's `rate`: of all attempts at a destination, first tries too. Times in ns. Thread-safe
 * and async-signal-safe. */
#ifndef RETRYBUDGET_BUDGET_RATE_H
#define RETRYBUDGET_BUDGET_RATE_H

#include "budget/budget.h"

/* True if one more attempt, of whatever kind, is within the policy's rate, and takes its place. */
bool budget_keeps_rate(const struct account *account, int64_t now);

/* ns until the policy's rate lets one more attempt go; 0 = now. */
int64_t budget_rate_wait(const struct account *account, int64_t now);

#endif
