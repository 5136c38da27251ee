/* SPDX-License-Identifier: MIT */
/* Connections lost at once, and the spreading of their replacements. */
#include "budget_fixture.h"

#include "budget/spread.h"

#define OVER SECONDS(10)
/* The beginning of a second. */
#define AT(n) (SECONDS(1000) + SECONDS(n))

static uint64_t seed = 1;

static void lose(struct spread *spread, int n, int64_t at)
{
	for (int i = 0; i < n; i++)
		spread_lost(spread, OVER, at);
}

/* How many of n connects at a time have to wait. */
static int waits(struct spread *spread, int n, int64_t at)
{
	int waiting = 0;

	for (int i = 0; i < n; i++)
		waiting += spread_delay(spread, OVER, at, &seed) > 0;
	return waiting;
}

/* For the log. */
Test(spread, tells_its_beginning_once)
{
	struct spread spread = { 0 };
	int told = 0;

	for (int i = 0; i < 50; i++)
		told += spread_lost(&spread, OVER, AT(0)) << i / 10;
	cr_expect_eq(told, 1, "with one of the first ten");
	cr_expect(!spread_lost(&spread, OVER, AT(9)));
	for (int i = 0; i < 50; i++)
		told += spread_lost(&spread, OVER, AT(60));
	cr_expect_eq(told, 2);
}

/* Threads read the clock, and are held up before they tell. */
Test(spread, is_told_once_by_clocks_that_were_read_before_it_began)
{
	struct spread spread = { 0 };
	int told = 0, spread_out = 0;

	lose(&spread, 50, AT(1));
	for (int i = 0; i < 50; i++)
		told += spread_lost(&spread, OVER, AT(1) - 1 - i);
	cr_expect_eq(told, 0);
	for (int i = 0; i < 101; i++) {
		int64_t delay = spread_delay(&spread, OVER, AT(1) - 1 - i, &seed);

		spread_out += delay > 0 && delay <= OVER;
	}
	cr_expect_eq(spread_out, 100, "as many as were lost");
}

Test(spread, counts_as_one_what_clocks_on_both_sides_of_a_second_tell)
{
	struct spread spread = { 0 };
	int told = 0;

	for (int i = 0; i < SPREAD_MANY; i++)
		told += spread_lost(&spread, OVER, AT(1) - i % 2);
	cr_expect_eq(told, 1);
}

Test(spread, leaves_a_few_alone)
{
	struct spread spread = { 0 };

	lose(&spread, SPREAD_MANY - 1, AT(0));
	cr_expect_eq(waits(&spread, 10, AT(0)), 0);
}

Test(spread, leaves_losses_alone_that_come_one_by_one)
{
	struct spread spread = { 0 };

	for (int i = 0; i < 100; i++)
		lose(&spread, SPREAD_MANY - 1, AT(i));
	cr_expect_eq(waits(&spread, 10, AT(100)), 0);
}

Test(spread, spreads_as_many_as_were_lost)
{
	struct spread spread = { 0 };

	lose(&spread, 200, AT(0));
	cr_expect_eq(waits(&spread, 1000, AT(0)), 200);
}

Test(spread, counts_those_noticed_later)
{
	struct spread spread = { 0 };

	lose(&spread, 5, AT(0));
	lose(&spread, 5, AT(4));
	cr_expect_eq(waits(&spread, 100, AT(5)), 10);
}

Test(spread, is_even_and_ends_in_time)
{
	struct spread spread = { 0 };
	int seconds[10] = { 0 };

	lose(&spread, 10000, AT(0));
	for (int i = 0; i < 10000; i++) {
		int64_t delay = spread_delay(&spread, OVER, AT(0), &seed);

		cr_assert(delay >= 0 && delay <= OVER);
		if (delay < OVER)
			seconds[delay / NS_PER_S]++;
	}
	for (int i = 0; i < 10; i++)
		cr_expect(seconds[i] > 850 && seconds[i] < 1150, "%d: %d", i, seconds[i]);
	lose(&spread, 100, AT(1));
	for (int i = 0; i < 100; i++)
		cr_expect(spread_delay(&spread, OVER, AT(8), &seed) <= SECONDS(2));
}

Test(spread, is_over_some_time)
{
	struct spread spread = { 0 };

	lose(&spread, 200, AT(0));
	cr_expect_eq(waits(&spread, 100, AT(10)), 0);
	lose(&spread, 200, AT(60));
	cr_expect_gt(waits(&spread, 100, AT(60)), 95);
}

/* A server that ends each connection after its reply. */
Test(spread, leaves_what_is_usual)
{
	struct spread spread = { 0 };
	int waiting = 0;

	for (int i = 0; i < 100; i++) {
		lose(&spread, 20, AT(i));
		if (i > 20)
			waiting += waits(&spread, 20, AT(i));
	}
	cr_expect_eq(waiting, 0);
	lose(&spread, 100, AT(100));
	cr_expect_gt(waits(&spread, 100, AT(100)), 50);
}

Test(spread, is_off_without_a_time)
{
	struct spread spread = { 0 };

	lose(&spread, 200, AT(0));
	cr_expect_eq(spread_delay(&spread, 0, AT(0), &seed), 0);
}

Test(spread, stands_any_bit_pattern)
{
	static const int64_t wild[] = { INT64_MIN, -1, 0, 1, INT64_MAX };

	for (int i = 0; i < 625; i++) {
		struct spread spread = { wild[i % 5], wild[i / 5 % 5], wild[i / 25 % 5],
			                 wild[i / 125] };
		int64_t delay;

		lose(&spread, 10, AT(0));
		delay = spread_delay(&spread, OVER, AT(1), &seed);
		cr_expect(delay >= 0 && delay <= OVER);
	}
}

Test(spread, a_corrupted_count_of_what_is_usual_is_none)
{
	struct spread spread = { .usual = INT64_MAX / 2 };

	spread.counted = AT(0) / NS_PER_S << 24;
	lose(&spread, SPREAD_MANY, AT(0));
	cr_expect_eq(waits(&spread, 100, AT(0)), SPREAD_MANY);
}

Test(spread, starts_beyond_the_burst_are_spread)
{
	int64_t now = INT64_C(1000) * NS_PER_S, longest = 0, sum = 0;
	uint64_t random = 3;
	cell64 starts = 0;
	bool first;

	for (int i = 0; i < 1000; i++) {
		int64_t delay = spread_start(&starts, 10, 5 * NS_PER_S, now + i, &random, &first);

		cr_assert(i < 10 ? delay == 0 : delay >= 0 && delay <= 5 * NS_PER_S);
		cr_assert_eq(first, i == 10, "which is told once in a second");
		sum += delay;
		longest = delay > longest ? delay : longest;
	}
	cr_expect_gt(longest, 4 * NS_PER_S);
	cr_expect(sum / 990 > 2 * NS_PER_S && sum / 990 < 3 * NS_PER_S);
	cr_expect_eq(spread_start(&starts, 10, 5 * NS_PER_S, now + 2 * NS_PER_S, &random, &first),
	             0, "another second");
	cr_expect_eq(spread_start(&starts, 0, 0, now, &random, &first), 0, "off");
	starts = INT64_MAX; /* corrupted */
	cr_expect_eq(spread_start(&starts, 10, 5 * NS_PER_S, now, &random, &first), 0);
}
