/* SPDX-License-Identifier: MIT */
/*
 * What each strategy promises, held against a list of everything that happened, under random
 * schedules with a clock of our own: never more retries than the rule allows, and waits that are
 * exact.
 */
#include "strategies_fixture.h"

/* How often in (now - window, now]. */
static int64_t how_often(int what, int64_t window, int64_t now)
{
	int64_t n = 0;

	for (int i = happened - 1; i >= 0 && past[i].at > now - window; i--)
		n += past[i].what == what;
	return n;
}

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
	strategy_window.refund(account, taken, false);
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
