/* SPDX-License-Identifier: MIT */
/* From the policy to its strategy, and what strategies share. */
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

int64_t strategy_part(const struct policy *policy, int64_t of_all)
{
	if (of_all <= 0)
		return 0;
	return policy->instances > 1 ? of_all / policy->instances : of_all;
}

int64_t strategy_throw(struct budget *budget, int64_t limit, int64_t now)
{
	int64_t step = INT64_C(0x5851f42d4c957f2d); /* odd: all 2^64 states come round */
	uint64_t state =
	    (uint64_t)atomic_fetch_add_explicit(&budget->dice, step, memory_order_relaxed) ^
	    (uint64_t)now * UINT64_C(0xd1342543de82ef95);

	random_next(&state);
	return random_upto(&state, limit);
}
