/* SPDX-License-Identifier: MIT */
/* The strategies that draw: how often they let a retry go, and the load that retries add under each
 * strategy. */
#include "strategies_fixture.h"

/* Asks n times at one moment, with everything that asking counts undone. */
static double frequency(int n, int64_t now)
{
	static struct budget kept;
	int gone = 0;

	memcpy(&kept, &world.budget, sizeof(kept));
	for (int i = 0; i < n; i++) {
		int64_t dice;

		gone += ask(now);
		dice = world.budget.dice;
		memcpy(&world.budget, &kept, sizeof(kept));
		world.budget.dice = dice;
	}
	return (double)gone / n;
}

static void outcomes(int good, int bad, int64_t now)
{
	begin(1, world.policy.strategy);
	for (int i = 0; i < good; i++)
		strategy_of(&world.policy)->note(account, NOTE_SUCCESS, 0, now);
	for (int i = 0; i < bad; i++)
		strategy_of(&world.policy)->note(account, NOTE_FAILURE, 0, now);
}

Test(throttle, the_chance_is_that_of_the_book)
{
	static const int known[][2] = { { 0, 0 },   { 10, 0 }, { 10, 10 }, { 10, 11 },
		                        { 10, 30 }, { 0, 1 },  { 0, 99 },  { 300, 900 } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		double good = known[i][0], all = good + known[i][1];
		double refused = (all - 2 * good) / (all + 1);

		world.policy.strategy = STRATEGY_THROTTLE;
		outcomes(known[i][0], known[i][1], START_OF_TIME);
		cr_expect_float_eq(frequency(20000, START_OF_TIME), refused > 0 ? 1 - refused : 1,
		                   0.02, "%d good, %d bad", known[i][0], known[i][1]);
	}
}

/* A refusal is a request that was not accepted. */
Test(throttle, refusals_count)
{
	int64_t limit, before, after, now = START_OF_TIME;

	world.policy.strategy = STRATEGY_THROTTLE;
	outcomes(0, 5, now);
	before = strategy_throttle.level(account, now, &limit);
	while (ask(now))
		;
	after = strategy_throttle.level(account, now, &limit);
	cr_expect_eq(before, 1000 - 5000 / 6);
	cr_expect_eq(after, 1000 - 6000 / 7);
}

Test(probabilistic, the_chance_is_target_by_failures)
{
	static const int known[][2] = { { 0, 0 },   { 10, 0 },  { 95, 5 },
		                        { 80, 20 }, { 50, 50 }, { 0, 7 } };

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		double all = known[i][0] + known[i][1];
		double chance = known[i][1] ? 0.1 / (known[i][1] / all) : 1;

		world.policy.strategy = STRATEGY_PROBABILISTIC;
		outcomes(known[i][0], known[i][1], START_OF_TIME);
		cr_expect_float_eq(frequency(20000, START_OF_TIME), chance < 1 ? chance : 1, 0.02,
		                   "%d good, %d bad", known[i][0], known[i][1]);
	}
}

/* Asking again is no way round it, and what has left the window binds nobody. */
Test(probabilistic, each_failure_is_drawn_once)
{
	int64_t now = START_OF_TIME;
	int gone = 0;

	begin(1, STRATEGY_PROBABILISTIC);
	world.policy.target = 300000;
	for (int i = 0; i < 2000; i++) {
		strategy_probabilistic.note(account, NOTE_FAILURE, 0, now);
		for (int again = 0; again < 50; again++)
			gone += ask(now + again * NS_PER_MS);
		now += SECONDS(0.1);
	}
	/* A tenth of slack, for failures that leave the window before their throws. */
	cr_expect(gone > 2000 * 0.27 && gone < 2000 * 0.37, "%d", gone);
	cr_expect(ask(now + SECONDS(12)));
}

/* Requests of which a share fails, all of them asked to be retried: what the retries add. */
static double added_load(int percent, enum strategy strategy)
{
	const int requests = 20000;
	int64_t now = START_OF_TIME;
	int extra = 0;

	begin(1, strategy);
	for (int i = 0; i < requests; i++) {
		now += 10 * NS_PER_MS;
		budget_first_try(account, now);
		for (int try = 0; try < 4; try++) {
			if (random_upto(&world.random, 99) >= percent) {
				budget_success(account, now);
				break;
			}
			budget_failure(account, try > 0, now, now, &world.random);
			if (try == 3 || budget_admit(account, world.policy.cost, now) == REFUSED)
				break;
			extra++;
		}
	}
	return extra / (double)requests;
}

Test(strategies, the_load_that_retries_add)
{
	static const struct {
		enum strategy strategy;
		double a_few, many, all; /* most that 1, 20 and 100 % failing may add */
	} known[] = {
		{ STRATEGY_BUCKET, 0.012, 0.13, 0.01 },
		{ STRATEGY_WINDOW, 0.012, 0.21, 0.01 },
		{ STRATEGY_ADAPTIVE, 0.012, 0.13, 0.01 },
		{ STRATEGY_THROTTLE, 0.012, 0.27, 0.02 },
		{ STRATEGY_PROBABILISTIC, 0.012, 0.14, 0.12 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		double a_few = added_load(1, known[i].strategy);
		double many = added_load(20, known[i].strategy);
		double all = added_load(100, known[i].strategy);

		cr_log_info("strategy %d adds %.3f, %.3f, %.3f", known[i].strategy, a_few, many,
		            all);
		cr_expect_leq(a_few, known[i].a_few, "%zu: %.3f", i, a_few);
		cr_expect_geq(a_few, 0.008, "%zu: %.3f: retries are of use", i, a_few);
		cr_expect_leq(many, known[i].many, "%zu: %.3f", i, many);
		cr_expect_geq(many, 0.05, "%zu: %.3f: still of use", i, many);
		cr_expect_leq(all, known[i].all, "%zu: %.3f", i, all);
	}
}
