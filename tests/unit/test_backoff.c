/* SPDX-License-Identifier: MIT */
/* Backoff: the curve, and the distribution of every jitter over 10^5 draws. */
#include "budget_fixture.h"

#include <fenv.h>
#include <math.h>

#define DRAWS 100000

static struct backoff_rule rule_with(int32_t jitter)
{
	struct backoff_rule rule = default_policy.backoff;

	rule.jitter = jitter;
	rule.min = 0;
	return rule;
}

Test(backoff, generator_is_splitmix64)
{
	/* The reference sequence of seed 1234567. */
	static const uint64_t reference[] = { 6457827717110365317ULL, 3203168211198807973ULL,
		                              9817491932198370423ULL, 4593380528125082431ULL,
		                              16408922859458223821ULL };
	uint64_t state = 1234567;

	for (int i = 0; i < 5; i++)
		cr_expect_eq(random_next(&state), reference[i]);
}

Test(backoff, random_upto_keeps_to_its_range_and_is_even)
{
	uint64_t state = 42;
	int seen[3] = { 0 };
	int high = 0;

	for (int i = 0; i < DRAWS; i++) {
		int64_t wide = random_upto(&state, INT64_MAX);

		/* A modulus without rejection would favour the low third of this range. */
		int64_t odd = random_upto(&state, INT64_MAX / 4 * 3);

		seen[random_upto(&state, 2)]++;
		high += odd > INT64_MAX / 8 * 3;
		cr_assert_geq(wide, 0);
		cr_assert(odd >= 0 && odd <= INT64_MAX / 4 * 3);
		cr_assert_eq(random_upto(&state, 0), 0);
		cr_assert_eq(random_upto(&state, -5), 0);
		cr_assert_eq(random_upto(&state, INT64_MIN), 0);
	}
	for (int i = 0; i < 3; i++)
		cr_expect(abs(seen[i] - DRAWS / 3) < DRAWS / 100, "%d: %d", i, seen[i]);
	cr_expect(abs(high - DRAWS / 2) < DRAWS / 100, "%d", high);
}

Test(backoff, ceiling_doubles_up_to_the_cap)
{
	struct backoff_rule rule = rule_with(JITTER_NONE);
	static const int64_t ms[] = { 100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000 };

	for (int n = 0; n < 9; n++)
		cr_expect_eq(backoff_ceiling(&rule, n), ms[n] * NS_PER_MS, "streak %d", n);
	cr_expect_eq(backoff_ceiling(&rule, INT64_MAX), rule.cap);
	cr_expect_eq(backoff_ceiling(&rule, -1), rule.base);
	rule.factor = 1500;
	cr_expect_eq(backoff_ceiling(&rule, 2), 225 * NS_PER_MS);
}

Test(backoff, ceiling_saturates_and_ends)
{
	struct backoff_rule rule = { .base = 1, .factor = 1001, .cap = SECONDS(86400) };

	cr_expect_eq(backoff_ceiling(&rule, INT64_MAX), rule.cap, "the flattest curve gets there");
	rule = (struct backoff_rule) { SECONDS(3600), 100000, INT64_MAX, 0, 0 };
	for (int64_t n = 0; n < 100; n++)
		cr_expect_geq(backoff_ceiling(&rule, n), SECONDS(3600));
	cr_expect_eq(backoff_ceiling(&rule, 100), INT64_MAX);
	rule.factor = INT64_MAX;
	cr_expect_eq(backoff_ceiling(&rule, 2), INT64_MAX);
	rule.factor = 1000;
	cr_expect_eq(backoff_ceiling(&rule, INT64_MAX), SECONDS(3600), "a factor of 1 is flat");
	rule.factor = INT64_MIN;
	cr_expect_eq(backoff_ceiling(&rule, INT64_MAX), SECONDS(3600));
	rule = (struct backoff_rule) { 0, 2000, SECONDS(1), 0, 0 };
	cr_expect_eq(backoff_ceiling(&rule, INT64_MAX), 0);
	rule = (struct backoff_rule) { SECONDS(60), 2000, SECONDS(1), 0, 0 };
	cr_expect_eq(backoff_ceiling(&rule, 3), SECONDS(1), "cap below base");
	rule = (struct backoff_rule) { INT64_MIN, 2000, INT64_MIN, 0, 0 };
	cr_expect_eq(backoff_ceiling(&rule, 3), 0);
}

/* Draws DRAWS delays and holds them against U(low, high): ends, mean, variance, deciles, and no
 * likeness between one draw and the next. The tolerances are five standard errors and more. */
static void expect_uniform(const struct backoff_rule *rule, int64_t streak, int64_t previous,
                           double low, double high)
{
	double sum = 0, squares = 0, products = 0, last = 0, mean, variance, width = high - low;
	double least = INFINITY, most = -INFINITY;
	int deciles[10] = { 0 };
	uint64_t random = 99;

	for (int i = 0; i < DRAWS; i++) {
		double delay = (double)backoff_delay(rule, streak, previous, &random);
		double unit = (delay - low) / width;

		cr_assert(delay >= low && delay <= high, "%f", delay);
		least = fmin(least, delay);
		most = fmax(most, delay);
		sum += unit;
		squares += unit * unit;
		products += (unit - 0.5) * (last - 0.5);
		last = unit;
		deciles[unit < 1 ? (int)(unit * 10) : 9]++;
	}
	mean = sum / DRAWS;
	variance = squares / DRAWS - mean * mean;
	cr_expect(fabs(mean - 0.5) < 0.005, "mean %f", mean);
	cr_expect(fabs(variance - 1.0 / 12) < 0.002, "variance %f", variance);
	cr_expect(fabs(products / DRAWS) < 0.002, "correlation %f", products / DRAWS);
	cr_expect_lt(least, low + width / 1000);
	cr_expect_gt(most, high - width / 1000);
	for (int i = 0; i < 10; i++)
		cr_expect(abs(deciles[i] - DRAWS / 10) < 600, "decile %d: %d", i, deciles[i]);
}

Test(backoff, full_jitter)
{
	struct backoff_rule rule = rule_with(JITTER_FULL);

	expect_uniform(&rule, 1, 0, 0, 200e6);
	expect_uniform(&rule, 3, 0, 0, 800e6);
	expect_uniform(&rule, 1000000, 0, 0, 10e9);
	rule.min = 500 * NS_PER_MS;
	expect_uniform(&rule, 3, 0, 500e6, 800e6);
}

Test(backoff, equal_jitter)
{
	struct backoff_rule rule = rule_with(JITTER_EQUAL);

	expect_uniform(&rule, 1, 0, 100e6, 200e6);
	expect_uniform(&rule, 1000000, 0, 5e9, 10e9);
}

Test(backoff, decorrelated_jitter)
{
	struct backoff_rule rule = rule_with(JITTER_DECORRELATED);
	uint64_t random = 5;
	int capped = 0;

	expect_uniform(&rule, 1, 0, 100e6, 300e6);
	expect_uniform(&rule, 9, 2 * NS_PER_S, 100e6, 6e9);

	/* Above the cap it is cut, not redrawn: the share that is cut stands at the cap. */
	for (int i = 0; i < DRAWS; i++)
		capped += backoff_delay(&rule, 9, 5 * NS_PER_S, &random) == rule.cap;
	cr_expect_float_eq(capped / (double)DRAWS, 5.0 / 14.9, 0.01);
	for (int i = 0; i < 1000; i++) {
		int64_t wild = backoff_delay(&rule, 9, (int64_t)random_next(&random), &random);

		cr_assert(wild >= rule.base && wild <= rule.cap, "a corrupted previous delay");
	}
}

Test(backoff, no_jitter)
{
	struct backoff_rule rule = rule_with(JITTER_NONE);
	uint64_t random = 5;

	for (int i = 0; i < 100; i++)
		cr_assert_eq(backoff_delay(&rule, 4, 0, &random), 1600 * NS_PER_MS);
	cr_expect_eq(random, 5, "nothing is drawn");
}

Test(backoff, min_is_below_every_delay)
{
	uint64_t random = 5;

	for (int32_t jitter = JITTER_FULL; jitter <= JITTER_NONE; jitter++) {
		struct backoff_rule rule = rule_with(jitter);

		rule.min = SECONDS(20);
		cr_expect_eq(backoff_delay(&rule, 1, 0, &random), SECONDS(20),
		             "min wins over cap, jitter %d", jitter);
		rule.min = 150 * NS_PER_MS;
		for (int i = 0; i < 1000; i++)
			cr_assert_geq(backoff_delay(&rule, 1, 0, &random), rule.min);
	}
}

Test(backoff, hostile_rules_give_a_delay_in_range)
{
	uint64_t random = 8;

	for (int i = 0; i < 100000; i++) {
		struct backoff_rule rule = { (int64_t)random_next(&random) >> random % 60,
			                     (int64_t)random_next(&random) >> random % 50,
			                     (int64_t)random_next(&random) >> random % 60,
			                     (int64_t)random_next(&random) >> random % 60,
			                     (int32_t)random_next(&random) % 6 };
		int64_t least = rule.min > 0 ? rule.min : 0, delay;
		int64_t most = rule.cap > least ? rule.cap : least;

		delay = backoff_delay(&rule, (int64_t)random_next(&random) >> random % 60,
		                      (int64_t)random_next(&random), &random);
		cr_assert(delay >= least && delay <= most, "%ld", (long)delay);
	}
}

#ifdef FE_NOMASK_ENV
/* A program may have asked for SIGFPE at any inexact division (HAZARDS 72). */
Test(backoff, lives_where_floating_point_traps)
{
	uint64_t random = 5;

	feenableexcept(FE_ALL_EXCEPT);
	for (int32_t jitter = JITTER_FULL; jitter <= JITTER_NONE; jitter++) {
		struct backoff_rule rule = rule_with(jitter);

		rule.factor = 1700;
		for (int64_t n = 1; n < 100; n++)
			backoff_delay(&rule, n, 0, &random);
	}
	fedisableexcept(FE_ALL_EXCEPT);
}
#endif
