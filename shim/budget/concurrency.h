/* SPDX-License-Identifier: MIT */
/* Strategy `concurrency`: what it has to be told. */
#ifndef RETRYBUDGET_BUDGET_CONCURRENCY_H
#define RETRYBUDGET_BUDGET_CONCURRENCY_H

#include "budget/budget.h"

/* An attempt that began (was let through) at `began` is in flight no more; retry: it was one. Only
 * `concurrency` wants to know, and forgets it after `window` anyway. */
void concurrency_end(const struct account *account, bool retry, int64_t began);

#endif
