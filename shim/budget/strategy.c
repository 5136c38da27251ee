/* SPDX-License-Identifier: MIT */
/* From the policy to its strategy. */
#include "budget/strategy.h"

static const struct strategy_calls *const strategies[STRATEGY_COUNT] = {
	[STRATEGY_BUCKET] = &strategy_bucket,
	[STRATEGY_WINDOW] = &strategy_window,
	[STRATEGY_ADAPTIVE] = &strategy_adaptive,
	[STRATEGY_THROTTLE] = &strategy_throttle,
	[STRATEGY_PROBABILISTIC] = &strategy_probabilistic,
	[STRATEGY_CONCURRENCY] = &strategy_concurrency,
};

const struct strategy_calls *strategy_of(const struct policy *policy)
{
	int32_t index = policy->strategy;

	if (policy->leased)
		return &strategy_lease;
	return strategies[index > 0 && index < STRATEGY_COUNT ? index : STRATEGY_BUCKET];
}
