/* SPDX-License-Identifier: MIT */
/* A crowd: counted by its refusals, and probed for more often than one program is. */
#include "budget_fixture.h"
#include "budget/streak.h"

#define MS(n) ((int64_t)(n)*NS_PER_MS)

/* So many refusals a second, evenly, for so many seconds. Returns the moment after. */
static int64_t refuse_many(cell64 *crowd, int64_t rate, int64_t seconds, int64_t now)
{
	for (int64_t i = 0; i < rate * seconds; i++)
		crowd_refused(crowd, false, now + i * NS_PER_S / rate);
	return now + SECONDS(seconds);
}

Test(crowd, is_as_large_as_many_ask)
{
	for (int64_t rate = 1; rate <= 4000; rate = rate * 3 / 2 + 1) {
		cell64 crowd = 0;
		int64_t now = refuse_many(&crowd, rate, 3, START_OF_TIME);
		int64_t size = crowd_size(&crowd, now), wanted = within(rate / 50, 1, 20);

		cr_expect(size >= wanted - 1 && size <= wanted, "%ld/s: %ld", (long)rate,
		          (long)size);
		cr_expect_eq(crowd_size(&crowd, now + SECONDS(2)), 1, "it has gone");
	}
}

/* Loops that start a process for each try, and sleep for a second in between. */
Test(crowd, of_loops_of_processes_is_as_large_as_they_are_many)
{
	for (int64_t loops = 1; loops <= 200; loops++) {
		cell64 crowd = 0;
		int64_t size;

		for (int64_t i = 0; i < loops * 3; i++)
			crowd_refused(&crowd, true, START_OF_TIME + i * NS_PER_S / loops);
		size = crowd_size(&crowd, START_OF_TIME + SECONDS(3));
		cr_expect_eq(size, within(loops * 12 / 50, 1, 20), "%ld: %ld", (long)loops,
		             (long)size);
	}
}

Test(crowd, is_no_loop_that_is_held_or_sleeps_a_little)
{
	for (int64_t rate = 1; rate <= 8; rate++) {
		cell64 crowd = 0;

		for (int64_t i = 0; i < rate * 3; i++)
			crowd_refused(&crowd, true, START_OF_TIME + i * NS_PER_S / rate);
		cr_expect_eq(crowd_size(&crowd, START_OF_TIME + SECONDS(3)), 1, "%ld/s",
		             (long)rate);
	}
}

Test(crowd, counts_on_over_the_edge_of_a_second)
{
	cell64 crowd = 0;
	int64_t second = (START_OF_TIME / NS_PER_S + 1) * NS_PER_S;

	for (int i = 0; i < 200; i++)
		crowd_refused(&crowd, false, second - 1);
	cr_expect_eq(crowd_size(&crowd, second - 1), 4);
	cr_expect_eq(crowd_size(&crowd, second), 4, "the second before counts");
	crowd_refused(&crowd, false, second);
	crowd_refused(&crowd, false, second - 1); /* a rival's clock is behind */
	cr_expect_eq(crowd_size(&crowd, second), 4);
	cr_expect_eq(crowd_size(&crowd, second + SECONDS(1)), 1);
}

Test(crowd, is_a_number_in_range_whatever_stands_there)
{
	uint64_t random = 5;

	for (int i = 0; i < 100000; i++) {
		cell64 crowd = (int64_t)random_next(&random);
		int64_t now = START_OF_TIME + SECONDS(i);

		cr_assert(crowd_size(&crowd, now) >= 1 && crowd_size(&crowd, now) <= CROWD_MOST);
		crowd_refused(&crowd, false, now);
		cr_assert(crowd_size(&crowd, now) >= 1 && crowd_size(&crowd, now) <= CROWD_MOST);
	}
}

/* One after the other, each as large as one can be counted. */
#define CROWDS 40
#define MOST   (CROWD_MOST * CROWD_EACH)

static void *refuse_some(void *crowds)
{
	for (int i = 0; i < CROWDS * MOST / 4; i++)
		crowd_refused((cell64 *)crowds + i / (MOST / 4), false, START_OF_TIME);
	return NULL;
}

Test(crowd, loses_nobody_who_comes_beside_others)
{
	cell64 crowds[CROWDS] = { 0 };
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, refuse_some, crowds), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CROWDS; i++)
		cr_expect_eq(crowds[i] & 0xfffff, MOST);
}

/* Its word is read for each verdict, and many write it at once. */
Test(crowd, that_cannot_count_for_more_leaves_its_word_alone)
{
	cell64 crowd = 0;
	int64_t full;

	for (int i = 0; i < MOST; i++)
		crowd_refused(&crowd, false, START_OF_TIME);
	full = crowd;
	crowd_refused(&crowd, false, START_OF_TIME);
	crowd_refused(&crowd, true, START_OF_TIME);
	cr_expect_eq(crowd, full);
	crowd_refused(&crowd, true, START_OF_TIME + SECONDS(1));
	cr_expect_neq(crowd, full, "another second");
	cr_expect_eq(crowd_size(&crowd, START_OF_TIME + SECONDS(1)), CROWD_MOST);
}

/* An outage of a minute, in which so many ask a second. Returns how many went in its second half,
 * and in *longest the longest time in it that nobody did. cap: ns, 0 = the default. */
static int outage_with(int64_t rate, bool fresh, int64_t cap, int64_t *longest)
{
	struct world world;
	int64_t now = START_OF_TIME, half = now + SECONDS(30), last = half;
	int went = 0;

	world_start(&world, (uint64_t)rate);
	if (cap)
		world.policy.backoff.base = world.policy.backoff.cap = cap;
	*longest = 0;
	budget_failure(&world.account, false, now, now, &world.random);
	for (; now < START_OF_TIME + SECONDS(60); now += NS_PER_S / rate) {
		if (budget_verdict(&world.account, TOKENS(1), now) == REFUSED) {
			crowd_refused(&world.budget.crowd, fresh, now);
			continue;
		}
		budget_failure(&world.account, true, now, now + MS(1), &world.random);
		if (now < half)
			continue;
		went++;
		*longest = greater(*longest, now - last);
		last = now;
	}
	return went;
}

static int outage(int64_t rate, int64_t *longest)
{
	return outage_with(rate, false, 0, longest);
}

Test(crowd, gets_no_more_than_tokens_and_its_probes_where_delays_are_short)
{
	int64_t longest;
	int went = outage_with(1000, false, MS(1), &longest);

	/* 30 s: a floor of 0.2 a second, and four probes a second at the most. */
	cr_expect(went >= 60 && went <= 6 + 120 + 2, "%d", went);
}

Test(crowd, is_probed_for_more_often_than_one_program)
{
	int64_t longest;
	int went = outage(40, &longest);

	cr_expect(went >= 2 && went <= 7, "a few: %d", went);
	cr_expect_gt(longest, SECONDS(4));
	went = outage(1000, &longest);
	cr_expect(went >= 60 && went <= 130, "two a second: %d", went);
	cr_expect_leq(longest, MS(600));
	went = outage(4000, &longest);
	cr_expect(went >= 60 && went <= 130, "and no more: %d", went);
}

Test(crowd, of_slow_loops_is_probed_for_in_time)
{
	int64_t longest;
	int went = outage_with(30, true, 0, &longest);

	cr_expect(went >= 15 && went <= 60, "one a second, of thirty: %d", went);
	cr_expect_leq(longest, MS(2000));
	went = outage_with(1, true, 0, &longest);
	cr_expect_leq(went, 7, "a loop alone: %d", went);
}

Test(crowd, does_not_overrule_what_an_operator_or_a_server_asks_for)
{
	struct world world;
	int64_t now = START_OF_TIME, until;

	world_start(&world, 1);
	world.policy.max_attempts = 1;
	budget_failure(&world.account, true, now, now, &world.random);
	budget_failure(&world.account, true, now, now, &world.random);
	until = refuse_many(&world.budget.crowd, 1000, 8, now);
	world.budget.admitted_at = now;
	cr_expect_eq(budget_verdict(&world.account, TOKENS(1), until), REFUSED, "max_attempts");
	world.policy.max_attempts = 0;
	world.policy.retry_after_cap = SECONDS(120);
	budget_retry_after(&world.account, SECONDS(60), until);
	cr_expect_eq(budget_verdict(&world.account, TOKENS(1), until + SECONDS(20)), REFUSED,
	             "Retry-After");
}
