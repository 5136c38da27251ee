/* SPDX-License-Identifier: MIT */
/* What holds under every strategy: more of a parameter never means fewer retries, and whatever lies
 * in the cells, what comes out is in its range. */
#include "strategies_fixture.h"
#include "budget/budget_wait.h"
#include "budget/concurrency.h"

/* Retries let through in one and the same schedule. */
static int64_t gone_with(const struct policy *policy, uint64_t seed, int successes)
{
	uint64_t random = seed;
	int64_t now = START_OF_TIME, gone = 0;

	begin(seed, policy->strategy);
	world.policy = *policy;
	for (int i = 0; i < EVENTS; i++)
		gone += something(&random, &now, 50, successes);
	return gone;
}

/* Parameters, and values that let more and more go. */
static const struct {
	enum strategy strategy;
	size_t field;
	int64_t values[6];
	int64_t slack; /* retries by which chance may turn it */
} growing[] = {
	{ STRATEGY_BUCKET,
	  offsetof(struct policy, bucket.capacity),
	  { 1000, 3000, 10000, 50000, TOKENS(1000), TOKENS(1000000) },
	  0 },
	{ STRATEGY_BUCKET,
	  offsetof(struct policy, bucket.earn),
	  { 0, 10, 100, 300, 1000, 10000 },
	  0 },
	{ STRATEGY_BUCKET,
	  offsetof(struct policy, bucket.floor),
	  { 0, 10, 100, 200, 1000, 10000 },
	  0 },
	{ STRATEGY_BUCKET,
	  offsetof(struct policy, bucket.start),
	  { 0, 200000, 400000, 600000, 800000, PPM_WHOLE },
	  0 },
	{ STRATEGY_BUCKET,
	  offsetof(struct policy, bucket.threshold),
	  { 900000, 700000, 500000, 300000, 100000, 0 },
	  0 },
	{ STRATEGY_BUCKET,
	  offsetof(struct policy, cost),
	  { 10000, 5000, 3000, 2000, 1000, 100 },
	  0 },
	{ STRATEGY_BUCKET, offsetof(struct policy, instances), { 64, 16, 8, 4, 2, 1 }, 0 },
	{ STRATEGY_WINDOW,
	  offsetof(struct policy, cost),
	  { 10000, 5000, 3000, 2000, 1000, 100 },
	  0 },
	{ STRATEGY_WINDOW, offsetof(struct policy, ratio), { 0, 50, 100, 200, 1000, 10000 }, 0 },
	{ STRATEGY_WINDOW,
	  offsetof(struct policy, window_min),
	  { 0, 1000, 3000, 10000, 50000, TOKENS(1000000) },
	  0 },
	{ STRATEGY_ADAPTIVE,
	  offsetof(struct policy, bucket.floor),
	  { 0, 10, 100, 200, 1000, 10000 },
	  0 },
	{ STRATEGY_THROTTLE,
	  offsetof(struct policy, k),
	  { 1000, 1500, 2000, 5000, 20000, 100000 },
	  60 },
	{ STRATEGY_PROBABILISTIC,
	  offsetof(struct policy, target),
	  { 0, 1000, 50000, 100000, 500000, PPM_WHOLE },
	  60 },
	{ STRATEGY_CONCURRENCY,
	  offsetof(struct policy, ratio),
	  { 0, 50, 100, 200, 1000, 10000 },
	  0 },
	{ STRATEGY_CONCURRENCY,
	  offsetof(struct policy, min_concurrency),
	  { 0, 1, 3, 10, 100, 1000000 },
	  0 },
};

Test(strategies, more_of_a_parameter_never_means_fewer_retries)
{
	for (size_t i = 0; i < sizeof(growing) / sizeof(*growing); i++) {
		for (int seed = 1; seed <= 10; seed++) {
			int64_t before = 0, first = 0;

			for (int v = 0; v < 6; v++) {
				struct policy policy = default_policy;
				int64_t gone;

				policy.strategy = growing[i].strategy;
				memcpy((char *)&policy + growing[i].field, &growing[i].values[v],
				       sizeof(int64_t));
				gone = gone_with(&policy, (uint64_t)seed, seed);
				cr_assert_geq(gone, before - growing[i].slack, "%zu: %ld then %ld",
				              i, (long)before, (long)gone);
				before = gone;
				first = v ? first : gone;
			}
			cr_assert_gt(before, first, "%zu: it matters", i);
		}
	}
}

/* Any bits in the cells, any numbers in the policy: what comes out is in its range. */
Test(strategies, hostile_cells_and_extreme_parameters)
{
	static const int64_t times[] = { INT64_MIN, 0, 1, START_OF_TIME, INT64_MAX / 2, INT64_MAX };
	static const int64_t odd[] = { INT64_MIN, -1, 0, 1, 1000, PPM_WHOLE, INT64_MAX };
	uint64_t random = 77;

	for (int round = 0; round < 60000; round++) {
		int64_t now = times[random_upto(&random, 5)], limit, waits, cost;
		int64_t *numbers = (int64_t *)&world.policy;

		begin(1, STRATEGY_BUCKET);
		for (size_t i = 0; i < offsetof(struct policy, mode) / sizeof(int64_t); i++)
			if (random_upto(&random, 2) == 0)
				numbers[i] = odd[random_upto(&random, 6)];
		world.policy.backoff.jitter = (int32_t)random_upto(&random, 5);
		world.policy.strategy = (int32_t)random_upto(&random, STRATEGY_COUNT + 1) - 1;
		world.policy.charge = (int32_t)random_upto(&random, 1);
		world.policy.refund = (int32_t)random_upto(&random, 1);
		world.policy.ratio_of = (int32_t)random_upto(&random, 1);
		world.policy.reserve = (int32_t)random_upto(&random, 1);
		for (size_t i = 0; i < sizeof(world.budget) / sizeof(cell64); i++)
			((cell64 *)&world.budget)[i] =
			    (int64_t)random_next(&random) >> random_upto(&random, 63);
		cost = odd[random_upto(&random, 6)];
		waits = budget_token_wait(account, cost, now);
		cr_assert_geq(waits, 0);
		cr_assert_geq(budget_due(account, cost, now), 0);
		budget_first_try(account, now);
		budget_admit(account, cost, now);
		cr_assert_geq(budget_failure(account, round % 2, now, now, &world.random), 1);
		budget_refund(account, cost, SOURCE_OWN);
		cr_assert_geq(budget_success(account, now), 0);
		concurrency_end(account, round % 2, now);
		cr_assert_geq(budget_level(account, now, &limit), 0);
		cr_assert_geq(limit, 0);
	}
}
