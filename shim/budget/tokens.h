/* SPDX-License-Identifier: MIT */
/* A destination's token bucket as the strategies `bucket` and `adaptive` use it: the rule of its
 * policy, with what instances, charge and refund make of it. Private to this room. */
#ifndef RETRYBUDGET_BUDGET_TOKENS_H
#define RETRYBUDGET_BUDGET_TOKENS_H

#include "budget/strategy.h"

/* This instance's rule, with at least `threshold` (ppm of the capacity) to remain. */
struct bucket_rule tokens_rule(const struct policy *policy, int64_t threshold);

int64_t tokens_wait(const struct account *account, const struct bucket_rule *rule, int64_t cost,
                    int64_t now);
int64_t tokens_take(const struct account *account, const struct bucket_rule *rule, int64_t cost,
                    int64_t now);
void tokens_refund(const struct account *account, int64_t mt, bool goes);
void tokens_note(const struct account *account, enum event_kind kind, int64_t cost, int64_t now);
int64_t tokens_level(const struct account *account, int64_t now, int64_t *limit);

#endif
