/* SPDX-License-Identifier: MIT */
/*
 * What each strategy promises, held against a list of everything that happened, under random
 * schedules with a clock of our own: never more retries than the rule allows, waits that are exact,
 * and more of a parameter never means fewer retries.
 */
#include "budget_fixture.h"
#include "budget/strategy.h"
#include "budget/concurrency.h"
#include "budget/streak.h"

#define EVENTS 3000

static struct world world;
static const struct account *const account = &world.account;

enum { WAS_FIRST, WAS_SUCCESS, WAS_FAILURE, WAS_RETRY };

/* Everything that happened; newest last. */
static struct {
	int64_t at;
	int what;
} past[EVENTS];
static int happened;

static void remember(int what, int64_t at)
{
	past[happened].what = what;
	past[happened++].at = at;
}

/* How often in (now - window, now]. */
static int64_t how_often(int what, int64_t window, int64_t now)
{
	int64_t n = 0;

	for (int i = happened - 1; i >= 0 && past[i].at > now - window; i--)
		n += past[i].what == what;
	return n;
}

static void begin(uint64_t seed, enum strategy strategy)
{
	world_start(&world, seed);
	world.policy.strategy = strategy;
	world.policy.probe = INT64_MAX / 2;
	world.process_rule = (struct bucket_rule) { .capacity = BUCKET_CAPACITY_MAX,
		                                    .floor = BUCKET_FLOOR_MAX,
		                                    .start = PPM_WHOLE };
	happened = 0;
}

static bool ask(int64_t now)
{
	return strategy_of(&world.policy)->take(account, world.policy.cost, now) >= 0;
}

static int64_t wait(int64_t now)
{
	return strategy_of(&world.policy)->wait(account, world.policy.cost, now);
}

/* One random event; true if a retry was let through at *now. */
static bool something(uint64_t *random, int64_t *now, int retries, int successes)
{
	int64_t which = random_upto(random, 99);

	*now += random_upto(random, random_upto(random, 199) ? SECONDS(0.05) : SECONDS(15));
	if (which < retries) {
		if (!ask(*now))
			return false;
		remember(WAS_RETRY, *now);
		return true;
	}
	if (which < retries + successes) {
		strategy_of(&world.policy)->note(account, NOTE_SUCCESS, 0, *now);
		remember(WAS_SUCCESS, *now);
	} else if (which % 2) {
		strategy_of(&world.policy)->note(account, NOTE_FIRST_TRY, 0, *now);
		remember(WAS_FIRST, *now);
	} else {
		strategy_of(&world.policy)->note(account, NOTE_FAILURE, world.policy.cost, *now);
		remember(WAS_FAILURE, *now);
	}
	return false;
}

/* --- window --- */

static int64_t window_limit(int64_t now)
{
	const struct policy *policy = &world.policy;
	int64_t earned = policy->ratio *
	                 how_often(policy->ratio_of ? WAS_FIRST : WAS_SUCCESS, policy->window, now);

	return policy->reserve ? earned + policy->window_min : greater(earned, policy->window_min);
}

static void random_window(uint64_t *random)
{
	begin(random_next(random), STRATEGY_WINDOW);
	world.policy.ratio = random_upto(random, 3) * 150;
	world.policy.window = SECONDS(1) + random_upto(random, SECONDS(20));
	world.policy.window_min = random_upto(random, 20) * 1000;
	world.policy.ratio_of = (int32_t)random_upto(random, 1);
	world.policy.reserve = (int32_t)random_upto(random, 1);
}

Test(window, never_more_than_the_rule_in_any_window)
{
	uint64_t random = 1;
	int gone = 0;

	for (int round = 0; round < 60; round++) {
		int64_t now = START_OF_TIME;

		random_window(&random);
		for (int i = 0; i < EVENTS; i++) {
			if (!something(&random, &now, 40, 30))
				continue;
			gone++;
			cr_assert_leq(1000 * how_often(WAS_RETRY, world.policy.window, now),
			              window_limit(now), "round %d", round);
		}
	}
	cr_expect_gt(gone, 5000);
}

/* And hardly less: with nothing earned, a program that always asks gets window_min in the long
 * run. */
Test(window, the_reserve_is_paid_in_full_and_in_parts)
{
	for (int64_t least = 1; least <= 100; least += 11) {
		int64_t now = START_OF_TIME, gone = 0, seconds = 0, most = 0;

		begin(1, STRATEGY_WINDOW);
		world.policy.window_min = TOKENS(least);
		for (; seconds < 1100; seconds++) {
			int64_t within = 0;

			for (int i = 0; i < 200; i++, now += 5 * NS_PER_MS)
				within += ask(now);
			gone += within;
			most = greater(most, within);
		}
		/* 1100 s are 110 windows; each is counted over one slice more than it has. */
		cr_expect_geq(gone, 100 * least - least, "%ld", (long)least);
		cr_expect_leq(gone, 110 * least + least, "%ld", (long)least);
		cr_expect_leq(most, 2 * ((least + 9) / 10), "%ld at once of %ld", (long)most,
		              (long)least);
	}
}

Test(window, waits_are_exact)
{
	uint64_t random = 3;
	int waited = 0;

	for (int round = 0; round < 40; round++) {
		int64_t now = START_OF_TIME;

		random_window(&random);
		for (int i = 0; i < 300; i++) {
			static struct budget kept;
			int64_t until;

			something(&random, &now, 60, 20);
			until = wait(now);
			memcpy(&kept, &world.budget, sizeof(kept));
			if (until == INT64_MAX) {
				cr_assert(!ask(now + world.policy.window * 3));
			} else {
				cr_assert(ask(now + until), "%ld", (long)until);
				memcpy(&world.budget, &kept, sizeof(kept));
				cr_assert(until == 0 || !ask(now + until - 1), "%ld", (long)until);
				waited += until > 0;
			}
			memcpy(&world.budget, &kept, sizeof(kept));
		}
	}
	cr_expect_gt(waited, 500);
}

Test(window, what_is_given_back_can_be_taken_again)
{
	int64_t now = START_OF_TIME, taken;

	begin(1, STRATEGY_WINDOW);
	taken = strategy_window.take(account, 1000, now);
	cr_assert_eq(taken, 1000);
	cr_assert(!ask(now), "one of two for this slice");
	strategy_window.give_back(account, taken, false);
	cr_expect(ask(now));
	cr_expect(!ask(now));
}

Test(window, a_retry_dearer_than_the_reserve_costs_all_of_it)
{
	begin(1, STRATEGY_WINDOW);
	world.policy.cost = TOKENS(1000);
	cr_expect(ask(START_OF_TIME));
	cr_expect(!ask(START_OF_TIME + SECONDS(9)));
	cr_expect(ask(START_OF_TIME + SECONDS(12)));
}

/* --- adaptive --- */

Test(adaptive, in_bad_times_half_of_the_bucket_stays)
{
	uint64_t random = 4;
	int bad = 0, low = 0;

	for (int round = 0; round < 40; round++) {
		int64_t now = START_OF_TIME;

		begin(random_next(&random), STRATEGY_ADAPTIVE);
		for (int i = 0; i < EVENTS; i++) {
			int64_t good, all, limit, level;

			if (!something(&random, &now, 40, round % 4 * 3))
				continue;
			level = strategy_adaptive.level(account, now, &limit);
			/* Bad whichever way the oldest slice is counted. */
			good = how_often(WAS_SUCCESS, world.policy.window, now);
			all = good + how_often(WAS_FAILURE, world.policy.window * 9 / 10, now);
			if (all > 0 && good * 10 < all) {
				bad++;
				cr_assert_geq(level, limit / 2, "round %d", round);
			}
			low += level < limit / 2;
		}
	}
	cr_expect_gt(bad, 100);
	cr_expect_gt(low, 100, "in good times the other half is used");
}

Test(adaptive, never_more_than_the_bucket_alone)
{
	uint64_t seed = 5;

	for (int round = 0; round < 40; round++) {
		int gone[2] = { 0 };

		for (int i = 0; i < 2; i++) {
			uint64_t random = seed + (uint64_t)round;
			int64_t now = START_OF_TIME;

			begin(1, i ? STRATEGY_ADAPTIVE : STRATEGY_BUCKET);
			for (int j = 0; j < EVENTS; j++)
				gone[i] += something(&random, &now, 40, round % 20);
		}
		cr_expect_leq(gone[1], gone[0]);
	}
}

/* The end of the bad times may come before the floor has paid for half a bucket. */
Test(adaptive, waits_are_exact)
{
	uint64_t random = 6;
	int waited = 0;

	for (int round = 0; round < 40; round++) {
		int64_t now = START_OF_TIME;

		begin(1, STRATEGY_ADAPTIVE);
		world.policy.bucket.floor = random_upto(&random, 3) * 100;
		for (int i = 0; i < 300; i++) {
			static struct budget kept;
			int64_t until;

			something(&random, &now, 60, round % 10);
			until = wait(now);
			if (until == INT64_MAX)
				continue;
			memcpy(&kept, &world.budget, sizeof(kept));
			cr_assert(ask(now + until), "%ld", (long)until);
			memcpy(&world.budget, &kept, sizeof(kept));
			cr_assert(until == 0 || !ask(now + until - 1), "%ld", (long)until);
			memcpy(&world.budget, &kept, sizeof(kept));
			waited += until > 0;
		}
	}
	cr_expect_gt(waited, 500);
}

/* --- by chance --- */

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

/* --- more of a parameter, or less of one that is in the way --- */

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

Test(strategies, more_of_a_parameter_never_means_fewer_retries)
{
	static const struct {
		enum strategy strategy;
		size_t field;
		int64_t values[6];
		int64_t slack; /* retries by which chance may turn it */
	} known[] = {
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
		{ STRATEGY_WINDOW,
		  offsetof(struct policy, ratio),
		  { 0, 50, 100, 200, 1000, 10000 },
		  0 },
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

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		for (int seed = 1; seed <= 10; seed++) {
			int64_t before = 0, first = 0;

			for (int v = 0; v < 6; v++) {
				struct policy policy = default_policy;
				int64_t gone;

				policy.strategy = known[i].strategy;
				memcpy((char *)&policy + known[i].field, &known[i].values[v],
				       sizeof(int64_t));
				gone = gone_with(&policy, (uint64_t)seed, seed);
				cr_assert_geq(gone, before - known[i].slack, "%zu: %ld then %ld", i,
				              (long)before, (long)gone);
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
		budget_refund(account, cost);
		cr_assert_geq(budget_success(account, now), 0);
		concurrency_end(account, round % 2, now);
		cr_assert_geq(budget_level(account, now, &limit), 0);
		cr_assert_geq(limit, 0);
	}
}

/* --- the gates --- */

Test(gates, sample_lets_that_share_of_failures_be_retried)
{
	int64_t now = START_OF_TIME;
	int gone = 0;

	begin(9, STRATEGY_BUCKET);
	world.policy.bucket.floor = BUCKET_FLOOR_MAX;
	world.policy.sample = 300000;
	for (int i = 0; i < 10000; i++) {
		int this = 0;

		now += SECONDS(1);
		budget_failure(account, false, now, now, &world.random);
		for (int again = 0; again < 5; again++)
			this += budget_admit(account, 1000, now) == ADMITTED;
		cr_assert(this == 0 || this == 5, "the failure, not the asking, is what is drawn");
		gone += this / 5;
	}
	cr_expect(gone > 2700 && gone < 3300, "%d", gone);
	world.policy.sample = 0;
	budget_failure(account, false, now, now, &world.random);
	cr_expect_eq(budget_admit(account, 1000, now), REFUSED);
	budget_success(account, now);
	cr_expect_eq(budget_token_wait(account, 1000, now), 0, "a success forgets it");
}

Test(gates, max_attempts_bounds_a_streak_until_a_success)
{
	int64_t now = START_OF_TIME;
	int gone = 0;

	begin(9, STRATEGY_BUCKET);
	world.policy.max_attempts = 3;
	budget_failure(account, false, now, now, &world.random);
	while (budget_admit(account, 1000, ++now) == ADMITTED && gone < 10) {
		gone++;
		budget_failure(account, true, now, now, &world.random);
	}
	cr_expect_eq(gone, 2, "three attempts: the first, and two retries");
	budget_success(account, now);
	cr_expect_eq(budget_admit(account, 1000, now), ADMITTED);
}

Test(gates, the_probe_overrides_both)
{
	int64_t now = START_OF_TIME;

	begin(9, STRATEGY_BUCKET);
	world.policy.max_attempts = 1;
	world.policy.sample = 0;
	world.policy.probe = SECONDS(10);
	budget_first_try(account, now);
	budget_failure(account, false, now, now, &world.random);
	cr_expect_eq(budget_admit(account, 1000, now + SECONDS(9)), REFUSED);
	cr_expect_eq(budget_token_wait(account, 1000, now + SECONDS(9)), SECONDS(1));
	cr_expect_eq(budget_admit(account, 1000, now + SECONDS(10)), ADMITTED_PROBE);
}

/* What a fleet of n gets together is what one gets alone, or one retry each. */
Test(gates, instances_share)
{
	for (int64_t n = 1; n <= 64; n *= 2) {
		int64_t now = START_OF_TIME, gone[2] = { 0 };

		for (int window = 0; window < 2; window++) {
			begin(1, window ? STRATEGY_WINDOW : STRATEGY_BUCKET);
			world.policy.bucket.capacity = TOKENS(32);
			world.policy.bucket.floor = 1600;
			world.policy.window_min = TOKENS(32);
			world.policy.instances = n;
			for (int i = 0; i < 20000; i++)
				gone[window] += ask(now + i * 5 * NS_PER_MS);
		}
		/* 100 s: a bucketful and 160; ten windows of 32. */
		cr_expect_leq(n * gone[0], greater(32, n) + 160 + n, "bucket, %ld", (long)n);
		cr_expect_geq(n * gone[0], 160, "bucket, %ld", (long)n);
		cr_expect_leq(n * gone[1], 352, "window, %ld: %ld", (long)n, (long)gone[1]);
		cr_expect(n > 32 ? gone[1] == 0 : n * gone[1] >= 270, "window, %ld: %ld", (long)n,
		          (long)gone[1]);
	}
}

/* Dividing the capacity must not make a retry cheap. */
Test(gates, an_instance_pays_the_whole_price)
{
	begin(1, STRATEGY_BUCKET);
	world.policy.instances = 100000;
	world.policy.cost = world.policy.cost_timeout = 5000;
	world.policy.bucket.threshold = 500000;
	cr_expect_eq(strategy_bucket.take(account, 5000, START_OF_TIME), 5000);
	cr_expect_eq(strategy_bucket.take(account, 5000, START_OF_TIME), -1);
}

/* --- charge --- */

Test(charge, failures_take_tokens_and_retries_look_at_the_level)
{
	int64_t now = START_OF_TIME, until;

	begin(1, STRATEGY_BUCKET);
	world.policy.charge = CHARGE_FAILURE;
	world.policy.bucket.threshold = 500000;
	for (int i = 0; i < 5; i++) {
		cr_expect(ask(now) && ask(now), "asking takes nothing");
		strategy_bucket.note(account, NOTE_FAILURE, 1000, now);
	}
	cr_expect(!ask(now), "at the threshold");
	until = wait(now);
	cr_expect(until > 0 && until < SECONDS(1), "the floor lifts it: %ld", (long)until);
	cr_expect(!ask(now + until - 1));
	cr_expect(ask(now + until));
	until = bucket_peek(&world.budget.bucket, &world.policy.bucket);
	strategy_bucket.give_back(account, 1000, true);
	cr_expect_eq(bucket_peek(&world.budget.bucket, &world.policy.bucket), until,
	             "nothing was taken, and nothing comes back");
}
