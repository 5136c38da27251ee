/* SPDX-License-Identifier: MIT */
/*
 * Rules that hold between any two moments, whatever the schedule: what a bucket pays for, what the
 * process-wide bucket and the probe let through of every strategy, and how often chance decides for
 * a retry.
 */
#include "budget_fixture.h"
#include "budget/strategy.h"
#include "budget/streak.h"

#include <math.h>

#define EVENTS 3000

static struct world world;
static const struct account *const account = &world.account;
static uint64_t dice;

static void begin(uint64_t seed, int32_t strategy)
{
	world_start(&world, seed);
	world.policy.strategy = strategy;
	world.policy.probe = INT64_MAX / 2;
}

/* A bound that holds from every moment to every later one: what was spent since then is at most
 * `most`, and what came in since. Kept as the balance now, and the least that it ever was. */
struct bound {
	double most, balance, least;
};

static bool spend(struct bound *bound, double amount)
{
	bound->balance += amount;
	return bound->balance - bound->least <= bound->most + 1.01; /* whole mt are paid out */
}

static void come_in(struct bound *bound, double amount)
{
	bound->balance -= amount;
	if (bound->balance < bound->least)
		bound->least = bound->balance;
}

/* The next moment: mostly soon, sometimes after a long pause. */
static int64_t pass(int64_t *now)
{
	int64_t by = random_upto(&dice, random_upto(&dice, 199) ? SECONDS(0.05) : SECONDS(40));

	*now += by;
	return by;
}

static void random_bucket(uint64_t seed)
{
	dice = seed;
	begin(seed, seed % 2 ? STRATEGY_BUCKET : STRATEGY_ADAPTIVE);
	world.policy.bucket = (struct bucket_rule) {
		.capacity = TOKENS(1 + random_upto(&dice, 30)),
		.earn = random_upto(&dice, 3) * 100,
		.floor = random_upto(&dice, 3) * 333,
		.start = random_upto(&dice, PPM_WHOLE),
		.threshold = random_upto(&dice, 2) * 300000,
	};
	world.policy.cost = random_upto(&dice, 2) * 700 + 300;
	world.policy.refund = (int32_t)random_upto(&dice, 1);
}

Test(rule, a_bucket_pays_for_no_more_than_it_holds_and_was_given)
{
	int gone = 0, refused = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		const struct bucket_rule *rule = &world.policy.bucket;
		int64_t now = START_OF_TIME, paid, given;
		struct bound bound = { 0 };

		random_bucket(seed);
		/* Above what must remain. */
		bound.most = (double)rule->capacity * (1 - (double)rule->threshold / PPM_WHOLE);
		given = rule->earn > world.policy.cost || !world.policy.refund ? rule->earn
		                                                               : world.policy.cost;
		for (int i = 0; i < EVENTS; i++) {
			come_in(&bound, (double)rule->floor * pass(&now) / NS_PER_S);
			if (random_upto(&dice, 99) < 70) {
				paid = strategy_of(&world.policy)
				           ->take(account, world.policy.cost, now);
				cr_assert(paid < 0 || spend(&bound, (double)paid), "seed %d, %d",
				          (int)seed, i);
				gone += paid > 0;
				refused += paid < 0;
			} else {
				strategy_of(&world.policy)->note(account, NOTE_SUCCESS, 0, now);
				come_in(&bound, (double)given);
			}
		}
	}
	cr_expect(gone > 5000 && refused > 5000, "%d, %d", gone, refused);
}

/* Under each strategy, at its most generous: the process-wide bucket, and one attempt per probe. */
Test(rule, whatever_the_strategy_the_process_and_the_probe_bound_it)
{
	for (int32_t strategy = 0; strategy < STRATEGY_COUNT; strategy++) {
		int paid = 0, probed = 0;

		for (uint64_t seed = 1; seed <= 20; seed++) {
			struct bound tokens = { .most = 20000 }, probes = { .most = 1 };
			int64_t now = START_OF_TIME;

			dice = seed;
			begin(seed, strategy);
			world.policy.bucket.capacity = TOKENS(1000);
			world.policy.bucket.floor = TOKENS(1000);
			world.policy.window_min = TOKENS(1000);
			world.policy.min_concurrency = 1000;
			world.policy.k = 100000;
			world.policy.target = PPM_WHOLE;
			world.policy.probe = SECONDS(5);
			world.process_rule = (struct bucket_rule) { .capacity = TOKENS(20),
				                                    .earn = 100,
				                                    .floor = 500,
				                                    .start = PPM_WHOLE };
			for (int i = 0; i < EVENTS; i++) {
				int64_t by = pass(&now);
				enum verdict verdict = REFUSED;

				come_in(&tokens, 500.0 * by / NS_PER_S);
				come_in(&probes, by / 5.0 / NS_PER_S);
				if (random_upto(&dice, 9) == 0) {
					budget_success(account, now);
					come_in(&tokens, 100);
				} else {
					budget_failure(account, true, now, now, &world.random);
					verdict = budget_admit(account, 1000, now);
				}
				paid += verdict == ADMITTED;
				probed += verdict == ADMITTED_PROBE;
				cr_assert(verdict != ADMITTED || spend(&tokens, 1000),
				          "strategy %d, seed %d, %d", strategy, (int)seed, i);
				cr_assert(verdict != ADMITTED_PROBE || spend(&probes, 1),
				          "strategy %d, seed %d, %d", strategy, (int)seed, i);
			}
		}
		cr_expect_gt(paid, 1000, "strategy %d: %d", strategy, paid);
	}
}

/* --- by chance --- */

static struct {
	int64_t at;
	bool good, refusal, thrown;
} past[2 * EVENTS];
static int happened;

static void remember(int64_t at, bool good, bool refusal, bool thrown)
{
	past[happened].at = at;
	past[happened].good = good;
	past[happened].refusal = refusal;
	past[happened++].thrown = thrown;
}

/* The chance of a retry, as published, of what happened in the slices that the window covers. */
static double chance(int64_t now)
{
	int64_t width = world.policy.window / SLICES, from = (now / width - (SLICES - 1)) * width;
	double all = 0, good = 0, refused;

	for (int i = happened - 1; i >= 0 && past[i].at >= from; i--) {
		if (past[i].thrown)
			continue;
		all++;
		good += past[i].good;
	}
	if (world.policy.strategy == STRATEGY_PROBABILISTIC) {
		double target = (double)world.policy.target / PPM_WHOLE;

		return all == good ? 1 : fmin(1, target * all / (all - good));
	}
	refused = (all - world.policy.k / 1000.0 * good) / (all + 1);
	return 1 - fmax(0, refused);
}

/* Throws already made for the failures of the window: no other is made then. */
static bool is_drawn(int64_t now)
{
	int64_t width = world.policy.window / SLICES, number = now / width, n = 0, failures = 0;

	for (int i = 0; i < happened; i++) {
		int64_t age = number - past[i].at / width;

		n += past[i].thrown && age <= SLICES - 2;
		failures += !past[i].thrown && !past[i].good && age <= SLICES - 1;
	}
	return failures > 0 && n >= failures;
}

static void play_chances(int32_t strategy, uint64_t seed, double *expected, double *variance,
                         int *gone)
{
	int64_t now = START_OF_TIME;
	int ill = 50;

	dice = seed;
	begin(seed, strategy);
	happened = 0;
	world.policy.window = SECONDS(1 + random_upto(&dice, 100));
	world.policy.k = 1000 + random_upto(&dice, 4) * 500;
	world.policy.target = (1 + random_upto(&dice, 5)) * 50000;
	for (int i = 0; i < EVENTS; i++) {
		double p;

		if (i % 300 == 0)
			ill = (int)random_upto(&dice, 100);
		pass(&now);
		if (random_upto(&dice, 2)) {
			bool good = random_upto(&dice, 99) >= ill;

			strategy_of(&world.policy)
			    ->note(account, good ? NOTE_SUCCESS : NOTE_FAILURE, 0, now);
			remember(now, good, false, false);
			continue;
		}
		p = chance(now);
		if (strategy == STRATEGY_PROBABILISTIC && is_drawn(now)) {
			cr_assert_lt(strategy_probabilistic.take(account, 0, now), 0);
			continue;
		}
		*expected += p;
		*variance += p * (1 - p);
		if (strategy_of(&world.policy)->take(account, 0, now) >= 0) {
			cr_assert_gt(p, 0);
			(*gone)++;
		} else {
			cr_assert_lt(p, 1);
			if (strategy == STRATEGY_THROTTLE)
				remember(now, false, true, false);
		}
		if (strategy == STRATEGY_PROBABILISTIC)
			remember(now, false, false, true);
	}
}

Test(rule, chances_are_the_published_ones_throughout)
{
	static const int32_t both[] = { STRATEGY_THROTTLE, STRATEGY_PROBABILISTIC };

	for (int i = 0; i < 2; i++) {
		double expected = 0, variance = 0;
		int gone = 0;

		for (uint64_t seed = 1; seed <= 30; seed++)
			play_chances(both[i], seed, &expected, &variance, &gone);
		cr_log_info("strategy %d: %d went, %.0f expected, sigma %.0f", both[i], gone,
		            expected, sqrt(variance));
		cr_expect_gt(expected, 2000);
		cr_expect_lt(fabs(gone - expected), 4 * sqrt(variance), "%d: %d, not %.0f", i, gone,
		             expected);
	}
}
