/* SPDX-License-Identifier: MIT */
/* What may go of which nobody can say what it is. */
#include "budget/allowance.h"
#include "budget_fixture.h"

static struct allowance allowance;
static int64_t now = START_OF_TIME;
static bool mixed;

static bool take(void)
{
	if (!allowance_take(&allowance, mixed, now))
		return false;
	allowance_tried(&allowance, now);
	return true;
}

/* So many of a hundred a second succeed, for a time. Returns how many went. */
static int play(int seconds, int of_hundred, bool always)
{
	int went = 0;

	for (int i = 0; i < seconds * 100; i++) {
		now += NS_PER_S / 100;
		if (always)
			allowance_tried(&allowance, now);
		else if (!take())
			continue;
		went++;
		if (i * 37 % 100 < of_hundred)
			allowance_answered(&allowance, now);
		else
			allowance_failed(&allowance, now);
	}
	return went;
}

Test(allowance, a_dead_destination_gets_a_start_and_no_more)
{
	int went = play(30, 0, false);

	cr_expect_eq(went, ALLOWANCE_START, "%d", went);
	cr_expect_eq(play(600, 0, false), 0, "time renews no start");
}

Test(allowance, an_outage_after_good_times_soon_gets_no_more)
{
	int went;

	play(20, 100, true);
	went = play(30, 0, false);
	cr_expect_leq(went, 120, "%d", went);
	cr_expect_leq(play(60, 0, false), 0);
}

Test(allowance, what_fails_in_part_keeps_its_usual_traffic)
{
	for (int share = 10; share <= 90; share += 20) {
		int went;

		allowance = (struct allowance) { 0 };
		play(20, 100, true);
		went = play(30, share, false);
		cr_expect_geq(went, 2950, "%d %% answered: %d of 3000 went", share, went);
	}
}

Test(allowance, traffic_that_has_just_begun_is_not_yet_usual)
{
	int went;

	play(1, 100, true);
	went = play(10, 30, false);
	cr_expect_geq(went, 900, "%d of 1000", went);
}

Test(allowance, where_nothing_is_known_half_failing_is_served)
{
	int went = play(30, 50, false);

	cr_expect_geq(went, 2800, "%d of 3000", went);
}

Test(allowance, a_success_renews_the_start)
{
	play(30, 0, false);
	allowance_answered(&allowance, now);
	for (int i = 0; i < ALLOWANCE_START; i++)
		cr_expect(take());
}

Test(allowance, the_destination_answers_for_a_second_and_six_failures)
{
	cr_expect_not(allowance_is_answering(&allowance, now));
	allowance_answered(&allowance, now);
	cr_expect(allowance_is_answering(&allowance, now + NS_PER_S - 1));
	cr_expect_not(allowance_is_answering(&allowance, now + NS_PER_S));
	for (int i = 0; i < 6; i++)
		allowance_failed(&allowance, now);
	cr_expect(allowance_is_answering(&allowance, now));
	allowance_failed(&allowance, now);
	cr_expect_not(allowance_is_answering(&allowance, now));
	cr_expect(allowance_has_answer(&allowance, now + ALLOWANCE_WINDOW - 1));
	cr_expect_not(allowance_has_answer(&allowance, now + ALLOWANCE_WINDOW));
}

Test(allowance, where_one_thing_fails_by_itself_it_answers_for_thirty_failures)
{
	allowance_answered(&allowance, now);
	cr_expect_not(allowance_is_answering_mixed(&allowance, now + NS_PER_S));
	for (int i = 0; i < 30; i++)
		allowance_failed(&allowance, now);
	cr_expect(allowance_is_answering_mixed(&allowance, now));
	cr_expect_not(allowance_is_answering(&allowance, now));
	allowance_failed(&allowance, now);
	cr_expect_not(allowance_is_answering_mixed(&allowance, now));
}

Test(allowance, what_is_mixed_goes_twenty_times_as_often_as_is_answered)
{
	for (int i = 0; i < 2; i++) {
		int went = 0;

		allowance = (struct allowance) { .usual = 10, .usual_at = now, .watching = 1 };
		allowance_failed(&allowance, now);
		STORE(allowance.usual, 10);
		for (int n = 0; n < 10; n++)
			allowance_answered(&allowance, now);
		for (mixed = i == 1; went < 1000 && take();)
			went++;
		cr_expect_eq(went, (mixed ? 200 : 20) + ALLOWANCE_START, "%d", went);
	}
	mixed = false;
}

Test(allowance, any_bit_pattern_is_valid)
{
	uint64_t random = 7;

	for (int i = 0; i < 100000; i++) {
		cell64 *cells = (cell64 *)&allowance;

		for (unsigned c = 0; c < sizeof(allowance) / sizeof(cell64); c++)
			cells[c] = (int64_t)random_next(&random) >> random % 63;
		take();
		allowance_failed(&allowance, now);
		take();
		allowance_answered(&allowance, now);
		cr_assert(allowance_is_answering(&allowance, now));
	}
}
