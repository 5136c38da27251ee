/* SPDX-License-Identifier: MIT */
/* What may go of which nobody can say what it is. */
#include "budget/allowance.h"
#include "budget_fixture.h"

static struct allowance allowance;
static int64_t now = START_OF_TIME;
static enum workload workload;

static bool take(void)
{
	if (!allowance_take(&allowance, workload, now))
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
			allowance_failed(&allowance, now, now);
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

/* After less than a window of traffic that began with a failure, a storm of unknown kind. */
Test(allowance, an_outage_ends_with_a_run_of_failures_where_nothing_is_usual)
{
	int went = 0;

	allowance_failed(&allowance, now, now);
	play(2, 100, true);
	for (; went < 1000 && take(); went++)
		allowance_failed(&allowance, now, now);
	cr_expect_leq(went, 100 + ALLOWANCE_START, "half of what was answered: %d", went);
	allowance = (struct allowance) { 0 };
	allowance_failed(&allowance, now, now);
	for (int i = 0; i < 20; i++)
		allowance_answered(&allowance, now);
	for (went = 0; went < 1000 && take(); went++)
		allowance_failed(&allowance, now, now);
	cr_expect_leq(went, 30 + ALLOWANCE_START, "%d", went);
}

/* One may have been written by a hostile member of a share. */
Test(allowance, a_run_that_is_no_number_is_no_chance)
{
	allowance_failed(&allowance, now, now);
	for (int i = 0; i < 20; i++)
		allowance_answered(&allowance, now);
	allowance.started = ALLOWANCE_START;
	for (workload = WORKLOAD_UNKNOWN; workload <= WORKLOAD_BOUNDED; workload++) {
		allowance.failed = INT64_MIN;
		cr_expect_not(take());
		allowance.failed = INT64_MAX;
		cr_expect_not(take());
	}
	workload = WORKLOAD_UNKNOWN;
	allowance.failed = 0;
	cr_expect(take());
}

/* Eight threads whose requests hang are told one after the other, whatever was answered meanwhile.
 */
Test(allowance, what_went_before_the_last_answer_says_nothing_of_what_came_after)
{
	int64_t began = now;

	allowance_failed(&allowance, began, now);
	now += NS_PER_S / 5;
	allowance_answered(&allowance, now);
	for (int i = 0; i < 8; i++)
		allowance_failed(&allowance, began, now + i);
	cr_expect(allowance_is_answering(&allowance, now + 8));
	cr_expect_eq(allowance.failed, 0, "%jd", (intmax_t)allowance.failed);
	for (int i = 0; i < 7; i++)
		allowance_failed(&allowance, now + 1, now + 9);
	cr_expect_not(allowance_is_answering(&allowance, now + 9), "what began after it does");
	allowance.answered_at = INT64_MAX; /* of a hostile member of a share */
	allowance.failed = 0;
	allowance_failed(&allowance, now, now + 10);
	cr_expect_eq(allowance.failed, 1);
}

/* Thirty that are on their way to one that takes them and closes after two seconds. */
Test(allowance, what_is_on_its_way_is_no_answer)
{
	int64_t began = now;

	for (int i = 0; i < 30; i++)
		allowance_tried(&allowance, now);
	now += 2 * NS_PER_S;
	allowance_answered_before(&allowance, 0, now);
	for (int i = 0; i < 30; i++)
		allowance_failed(&allowance, began, now);
	cr_expect_eq(allowance.failed, 30, "%jd", (intmax_t)allowance.failed);
	cr_expect_not(allowance_is_answering(&allowance, now));
	cr_expect_eq(slices_within(&allowance.answers, ALLOWANCE_WINDOW, now), 0);
}

/* Polls that end by a timeout of a second, beside calls that are answered. */
Test(allowance, who_has_answered_before_is_answering_at_the_first_failure)
{
	int64_t began = now;

	for (int i = 0; i <= ALLOWANCE_START; i++)
		allowance_tried(&allowance, now);
	now += NS_PER_S;
	allowance_answered_before(&allowance, 1, now);
	allowance_failed(&allowance, began, now);
	cr_expect(allowance_is_answering(&allowance, now));
	cr_expect_eq(allowance.failed, 1, "the first counts, whenever it began");
}

Test(allowance, what_was_answered_while_nothing_failed_counts_where_nothing_is_usual)
{
	for (int i = 0; i < 2; i++) {
		int went = 0;

		allowance = (struct allowance) { 0 };
		for (int n = 0; n < 4; n++)
			allowance_tried(&allowance, now);
		allowance_answered_before(&allowance, i == 0 ? 2 : 1000, now);
		allowance_failed(&allowance, now, now);
		allowance.answered_at = now;
		while (went < 1000 && take())
			went++;
		cr_expect_eq(went + 4, (i == 0 ? 20 : 30) + ALLOWANCE_START,
		             "ten for each, of as many as went and have not failed: %d", went);
	}
	allowance = (struct allowance) { 0 };
	play(20, 100, true);
	allowance_answered_before(&allowance, 1000, now);
	cr_expect_eq(slices_within(&allowance.answers, ALLOWANCE_WINDOW, now), 0,
	             "where it is known what is usual, that says it");
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

Test(allowance, the_destination_answers_who_comes_slowly_for_the_window_and_six_failures)
{
	cr_expect_not(allowance_is_answering_slowly(&allowance, now));
	allowance_answered(&allowance, now);
	cr_expect(allowance_is_answering_slowly(&allowance, now + ALLOWANCE_WINDOW - 1));
	cr_expect_not(allowance_is_answering_slowly(&allowance, now + ALLOWANCE_WINDOW));
	for (int i = 0; i < 7; i++) {
		cr_expect(allowance_is_answering_slowly(&allowance, now + NS_PER_S));
		allowance_failed(&allowance, now, now);
	}
	cr_expect_not(allowance_is_answering_slowly(&allowance, now + NS_PER_S));
}

Test(allowance, the_destination_answers_for_a_second_and_six_failures)
{
	cr_expect_not(allowance_is_answering(&allowance, now));
	allowance_answered(&allowance, now);
	cr_expect(allowance_is_answering(&allowance, now + NS_PER_S - 1));
	cr_expect_not(allowance_is_answering(&allowance, now + NS_PER_S));
	for (int i = 0; i < 6; i++)
		allowance_failed(&allowance, now, now);
	cr_expect(allowance_is_answering(&allowance, now));
	allowance_failed(&allowance, now, now);
	cr_expect_not(allowance_is_answering(&allowance, now));
	cr_expect(allowance_has_answer(&allowance, now + ALLOWANCE_WINDOW - 1));
	cr_expect_not(allowance_has_answer(&allowance, now + ALLOWANCE_WINDOW));
}

Test(allowance, where_one_thing_fails_by_itself_it_answers_for_thirty_failures)
{
	allowance_answered(&allowance, now);
	cr_expect_not(allowance_is_answering_mixed(&allowance, now + NS_PER_S));
	for (int i = 0; i < 30; i++)
		allowance_failed(&allowance, now, now);
	cr_expect(allowance_is_answering_mixed(&allowance, now));
	cr_expect_not(allowance_is_answering(&allowance, now));
	allowance_failed(&allowance, now, now);
	cr_expect_not(allowance_is_answering_mixed(&allowance, now));
}

Test(allowance, what_is_mixed_goes_twenty_times_as_often_as_is_answered)
{
	for (int i = 0; i < 2; i++) {
		int went = 0;

		allowance = (struct allowance) { .usual = 10, .usual_at = now, .watching = 1 };
		allowance_failed(&allowance, now, now);
		STORE(allowance.usual, 10);
		for (int n = 0; n < 10; n++)
			allowance_answered(&allowance, now);
		workload = i == 1 ? WORKLOAD_MIXED : WORKLOAD_UNKNOWN;
		while (went < 1000 && take())
			went++;
		cr_expect_eq(went, (i == 1 ? 200 : 20) + ALLOWANCE_START, "%d", went);
	}
}

/* How many of so many go, of which one in `of` is answered, and of the first fifty each other; and
 * then of as many, in an outage. */
static int play_partly(int many, int of, int *then)
{
	int went = 0;

	*then = 0;
	allowance = (struct allowance) { 0 };
	now += 60 * NS_PER_S;
	for (int i = 0; i < 2 * many; i++) {
		now += NS_PER_S / 100;
		if (!take())
			continue;
		if (i < many)
			went++;
		else
			++*then;
		if (i < many && i % (i < 50 ? 2 : of) == 0)
			allowance_answered(&allowance, now);
		else
			allowance_failed(&allowance, now, now);
	}
	return went;
}

Test(allowance, bounded_work_goes_where_one_in_fifteen_is_answered)
{
	int unknown, bounded, then;

	workload = WORKLOAD_UNKNOWN;
	unknown = play_partly(1000, 15, &then);
	cr_expect(unknown < 700, "%d", unknown);
	workload = WORKLOAD_BOUNDED;
	bounded = play_partly(1000, 15, &then);
	cr_expect_eq(bounded, 1000, "%d", bounded);
	cr_expect(then <= 60 + ALLOWANCE_START, "%d in an outage", then);
	cr_expect_eq(play_partly(100, 2, &then), 100);
	cr_expect(then <= 30 + ALLOWANCE_START, "%d: where half was answered, thirty are none",
	          then);
	bounded = play_partly(1000, 50, &then);
	cr_expect(bounded < 600, "%d", bounded);
}

Test(allowance, a_lack_of_ports_says_nothing_of_what_has_answered)
{
	play(3, 100, true);
	cr_expect(allowance_lacks_port(&allowance, true, now));
	play(1, 90, true);
	cr_expect(allowance_lacks_port(&allowance, true, now + 59 * NS_PER_S));
	cr_expect_not(allowance_lacks_port(&allowance, true, now + 61 * NS_PER_S));
}

Test(allowance, a_lack_of_ports_is_no_answer)
{
	cr_expect_not(allowance_lacks_port(&allowance, true, now), "nothing goes there");
	for (int tries = 0; tries < 16; tries++) /* at once */
		allowance_tried(&allowance, now);
	cr_expect_not(allowance_lacks_port(&allowance, false, now), "nothing was ever answered");
	now += 2 * NS_PER_S;
	cr_expect(allowance_lacks_port(&allowance, false, now), "nor has any of them failed");
	allowance = (struct allowance) { 0 };
	play(3, 100, true);
	allowance.answered_at = 0; /* while all is well nobody counts what is answered */
	for (int i = 0; i < 59; i++) {
		cr_expect(allowance_lacks_port(&allowance, true, now), "%d s", i);
		for (int tries = 0; tries < 10; tries++)
			allowance_tried(&allowance, now += NS_PER_S / 10);
	}
	now += 2 * NS_PER_S;
	cr_expect_not(allowance_lacks_port(&allowance, true, now));
}

Test(allowance, any_bit_pattern_is_valid)
{
	uint64_t random = 7;

	for (int i = 0; i < 100000; i++) {
		cell64 *cells = (cell64 *)&allowance;

		for (unsigned c = 0; c < sizeof(allowance) / sizeof(cell64); c++)
			cells[c] = (int64_t)random_next(&random) >> random % 63;
		take();
		allowance_failed(&allowance, now, now);
		take();
		allowance_answered(&allowance, now);
		cr_assert(allowance_is_answering(&allowance, now));
	}
}

/* Ten seconds of so many attempts a second; then it fails. */
static void fail_after(int each_second, int64_t answered)
{
	allowance = (struct allowance) { 0 };
	for (int i = 0; i < 10 * each_second; i++) {
		now += NS_PER_S / each_second;
		allowance_tried(&allowance, now);
	}
	if (each_second == 0)
		now += 10 * NS_PER_S;
	allowance_answered_before(&allowance, answered, now);
	allowance_failed(&allowance, now, now);
}

/* Of a thousand that ask in a second, so many go. */
static int ask_a_second(void)
{
	int went = 0;

	now = (now / NS_PER_S + 1) * NS_PER_S;
	for (int i = 0; i < 1000; i++, now += NS_PER_MS / 2)
		if (allowance_is_as_before(&allowance, now)) {
			allowance_tried(&allowance, now);
			allowance_failed(&allowance, now, now);
			went++;
		}
	return went;
}

Test(allowance, who_is_asked_asks_as_much_as_before)
{
	int went;

	fail_after(50, 500);
	for (int i = 0; i < 600; i++)
		cr_assert((went = ask_a_second()) >= 54 && went <= 57, "%d", went);
}

Test(allowance, who_asked_next_to_nothing_asks_once_in_three_seconds)
{
	int went = 0;

	fail_after(0, 500); /* on kept connections */
	for (int i = 0; i < 30; i++)
		went += ask_a_second();
	cr_expect(went >= 9 && went <= 11, "%d", went);
}

Test(allowance, what_never_answered_is_asked_for_in_vain)
{
	fail_after(50, 0);
	cr_expect_eq(ask_a_second(), 0);
	allowance_answered(&allowance, now);
	now += 4 * NS_PER_S;
	cr_expect_eq(ask_a_second(), 1, "now it has");
	allowance.before = INT64_MAX; /* of a hostile member */
	cr_expect_eq(ask_a_second(), 1000);
	allowance.before = INT64_MIN;
	cr_expect_eq(ask_a_second(), 0);
}

/* Connects whose request is judged instead: many for each answer, or few for many. */
Test(allowance, what_is_put_off_is_bounded_by_what_is_answered)
{
	cr_expect_not(allowance_defers(&allowance, true, 0, now), "nothing is answered");
	play(10, 50, true);
	cr_expect(allowance_defers(&allowance, true, 900, now));
	cr_expect_not(allowance_defers(&allowance, true, 1000, now));
	cr_expect(allowance_defers(&allowance, false, 4, now));
	cr_expect_not(allowance_defers(&allowance, false, 5, now));
}
