/* SPDX-License-Identifier: MIT */
/* What a simulated program does under the library: when it is held, and what a try answers. */
#include "config_fixture.h"
#include "region/region.h"
#include "sys/thread.h"
#include "tool/sim_cells.h"
#include "tool/sim_hold.h"
#include "tool/sim_library.h"

TestSuite(sim_client, .init = make_folder, .fini = remove_folder);

#define HOLD    (250 * NS_PER_MS)
#define REFUSED (NS_PER_MS / 10) /* that a refused connect takes */

/* The hold after `count` refusals, `pause` apart, of a thread that serves somebody or not. */
static int64_t held_while(bool serves, int count, int64_t pause, int64_t failing)
{
	struct sim_hold mine = { 0 };
	struct sim_refused refused = { &mine, failing, serves };
	int64_t now = NS_PER_S, length = 0;

	for (int i = 0; i < count; i++) {
		length = sim_hold_refused(&refused, HOLD, now);
		now += length;
		if (length > 0)
			sim_hold_over(&mine, now);
		now += pause;
	}
	return length;
}

static int64_t held_after(int count, int64_t pause, int64_t failing)
{
	return held_while(false, count, pause, failing);
}

/* As tests/unit/test_tries.c: one that looks like a spin may be the machine's. */
Test(sim_client, who_spins_is_held)
{
	cr_expect_eq(held_after(THREAD_ROW, NS_PER_MS / 10, REFUSED), 0);
	cr_expect_eq(held_after(THREAD_ROW + 1, NS_PER_MS / 10, REFUSED), 0);
	cr_expect_eq(held_after(THREAD_ROW + 2, NS_PER_MS / 10, REFUSED), HOLD);
	cr_expect_eq(held_after(THREAD_ROW + 9, NS_PER_MS / 10, REFUSED), HOLD);
}

Test(sim_client, who_sleeps_between_its_tries_is_held_as_long_as_a_failure_takes)
{
	cr_expect_eq(held_after(1000, 10 * NS_PER_MS, REFUSED), 0);
	cr_expect_eq(held_after(1000, 20 * NS_PER_MS, REFUSED), 0);
	cr_expect_eq(held_after(1000, 10 * NS_PER_MS, 80 * NS_PER_MS), 80 * NS_PER_MS);
}

Test(sim_client, who_is_far_ahead_of_real_failures_is_slowed_down)
{
	cr_expect_eq(held_after(2, 50 * NS_PER_MS, NS_PER_S), 0);
	cr_expect_eq(held_after(9, 50 * NS_PER_MS, NS_PER_S), HOLD);
	cr_expect_eq(held_after(99, 2 * NS_PER_S, NS_PER_S), 0, "its own pause is as long");
}

Test(sim_client, who_is_waited_for_is_held_as_long_as_a_failure_takes)
{
	cr_expect_eq(held_while(true, 30, NS_PER_MS / 10, REFUSED), 0);
	cr_expect_eq(held_while(true, 30, NS_PER_MS / 10, 20 * NS_PER_MS), 20 * NS_PER_MS);
}

static struct sim_storm process, all;

/* Refusals of a thread whose connects do not block, `pause` apart, until one is parked; 1000: none.
 */
static int until_parked(struct sim_hold *mine, int64_t failing, bool serves, int64_t pause,
                        int64_t now)
{
	struct sim_refused refused = { mine, failing, serves };
	int count = 1;

	while (count < 1000 && !sim_hold_parks(&refused, &process, &all, true, now)) {
		now += pause;
		count++;
	}
	return count;
}

/* The first has to make a storm, too (pace/storm.h), and is watched from there on. */
Test(sim_client, whose_connects_do_not_block_is_parked_where_he_spins)
{
	struct sim_hold mine = { 0 }, other = { 0 };

	cr_expect_eq(until_parked(&mine, REFUSED, false, REFUSED, NS_PER_S), 22);
	cr_expect_eq(until_parked(&other, REFUSED, false, REFUSED, NS_PER_S), THREAD_ROW + 2);
	cr_expect_eq(until_parked(&mine, REFUSED, false, REFUSED, 2 * NS_PER_S), THREAD_ROW + 2,
	             "the second of a parked one is a pause");
	cr_expect_eq(until_parked(&mine, REFUSED, true, REFUSED, 3 * NS_PER_S), 1000, "he serves");
	cr_expect_eq(until_parked(&mine, REFUSED, false, 20 * NS_PER_MS, 4 * NS_PER_S), 1000);
}

Test(sim_client, few_are_parked_at_a_time)
{
	struct sim_hold mine = { 0 };

	for (int i = 0; i < 8; i++)
		cr_expect_lt(until_parked(&mine, REFUSED, false, 0, NS_PER_S), 1000, "%d", i);
	cr_expect_eq(until_parked(&mine, REFUSED, false, 0, NS_PER_S), 1000);
	cr_expect_lt(until_parked(&mine, REFUSED, false, 0, 2 * NS_PER_S), 1000);
}

/* A process that works is redirected, and no storm, as long as ten refusals come of a request. */
Test(sim_client, who_is_asked_for_much_makes_no_storm)
{
	struct sim_hold mine = { 0 };
	struct sim_refused refused = { &mine, REFUSED, false };

	for (int i = 0; i < 300; i++) {
		if (i % 10 == 0)
			sim_hold_asked(&process, &all, NS_PER_S);
		cr_expect_not(sim_hold_parks(&refused, &process, &all, true, NS_PER_S), "%d", i);
	}
	cr_expect_eq(until_parked(&mine, REFUSED, false, 0, NS_PER_S), 22);
}

/* Far ahead of real failures of a second: parked, which forgives all but what one more park takes.
 */
Test(sim_client, whose_connects_do_not_block_is_parked_where_he_is_far_ahead)
{
	struct sim_hold mine = { 0 }, other = { 0 };
	int64_t pause = 250 * NS_PER_MS, now = 500 * NS_PER_S;

	cr_expect_eq(until_parked(&mine, NS_PER_S, false, pause, now), 4);
	cr_expect_eq(mine.back_at, now + 3 * pause + 3 * NS_PER_S);
	cr_expect_eq(until_parked(&other, NS_PER_S, true, pause, now), 1000, "he serves");
}

static struct sim_file file;
static struct sim_cell cells[1];

/* In a budget for each process, or for all. */
static const struct sim_cell *play(const char *text, const char *scope)
{
	struct sim_settings more = { 0 };
	char unused[64];
	struct text why;

	text_start(&why, unused, sizeof(unused));
	cr_assert(sim_settings_put(&more, "retrybudget.scope", scope, &why));
	write_bytes(text, strlen(text));
	cr_assert(sim_file_read(&file, path, stderr));
	cr_assert(sim_cell_make(&cells[0], &file, NULL, &more, NULL, "default", stderr));
	sim_cells_play(cells, 1, 1);
	cr_assert_not(cells[0].result.is_void);
	return cells;
}

/* Its own pause is all that it waits: thirty seconds of fifty times in each. */
Test(sim_client, loops_that_sleep_ask_as_often_as_they_would_without)
{
	const struct sim_cell *cell =
	    play("[scenario]\nduration = 30s\n[clients]\nloop = on\npause = 20ms\n"
	         "[server]\n[outage]\nfrom = 0\nuntil = 30s\n",
	         "process");

	cr_expect_gt(cell->result.metric[SIM_TRIES], 1200, "%g", cell->result.metric[SIM_TRIES]);
}

/* The least possible is four seconds. Who all begin at once are no loops of people: of real
 * programs each is started after the other, and those who are throttled come back by the ramp. */
Test(sim_client, a_breaker_that_closes_lets_all_come_back_in_their_turn)
{
	const struct sim_cell *cell =
	    play("[scenario]\nduration = 30s\n[clients]\nloop = on\nprocesses = 40\n"
	         "pause = 20ms\nspread = 400ms\n[server]\ncapacity = 10/s\nlatency = 200us\n"
	         "[outage]\nfrom = 0\nuntil = 8s\nlose = off\n"
	         "[policy]\nbreaker = on\nbreaker_open = 2s\n",
	         "host");

	cr_expect_eq(cell->result.metric[SIM_SERVED], 1, "%g", cell->result.metric[SIM_SERVED]);
	cr_expect_geq(cell->result.metric[SIM_RECOVERY], 4);
	cr_expect_lt(cell->result.metric[SIM_RECOVERY], 7, "%g", cell->result.metric[SIM_RECOVERY]);
}

static struct sim_unit unit;
static struct sim_policy *policy;
static uint64_t random_state = 1;

/* A destination that has failed `count` times, for as many threads; each waits for its next try. */
static int64_t fails(int count)
{
	int64_t now = SIM_BEGINNING;

	play("[scenario]\nduration = 1s\n[clients]\n[server]\n", "process");
	policy = &cells[0].policy;
	unit = (struct sim_unit) { 0 };
	for (int i = 0; i < count; i++) {
		struct sim_try try = { .number = 1 };

		now += NS_PER_MS;
		if (sim_library_begin(&unit, policy, &try, now))
			sim_library_end(&unit, policy, &try, FAILURE_REFUSED, now, &random_state);
		else
			sim_library_refused(&unit, policy, &try, now);
	}
	return now;
}

Test(sim_client, failures_without_a_place_are_answered_by_new_work)
{
	struct sim_try new = { .number = 1 };
	int64_t now = fails(REGION_FAILURES);

	sim_library_begin(&unit, policy, &new, now);
	cr_expect_not(new.unclear, "each has a place, and is its own thread's");
	now = fails(REGION_FAILURES + 1);
	sim_library_begin(&unit, policy, &new, now);
	cr_expect(new.unclear, "the last is nobody's");
	cr_expect(new.retry);
	sim_library_begin(&unit, policy, &new, now);
	cr_expect_not(new.unclear, "and now has been answered");
}

Test(sim_client, the_rules_of_others_know_their_requests)
{
	struct sim_try new = { .number = 1 };
	int64_t now = fails(REGION_FAILURES + 1);

	policy->original = true;
	sim_library_begin(&unit, policy, &new, now);
	cr_expect_not(new.unclear);
}

Test(sim_client, what_is_abandoned_is_answered_by_new_work)
{
	struct sim_try gone = { .number = 1 }, new = { .number = 1 };
	int64_t now = fails(1), old;

	sim_library_begin(&unit, policy, &gone, ++now);
	sim_library_end(&unit, policy, &gone, FAILURE_REFUSED, ++now, &random_state);
	old = gone.place;
	sim_library_begin(&unit, policy, &new, ++now);
	cr_expect_not(new.unclear, "its thread is still there");
	sim_library_abandoned(&unit, old);
	sim_library_begin(&unit, policy, &new, ++now);
	cr_expect(new.unclear);
	sim_library_abandoned(&unit, 0);
	cr_expect_eq(unit.placed, 1, "one without a place is none: %lld", (long long)unit.placed);
	sim_library_begin(&unit, policy, &new, ++now);
	cr_expect_not(new.unclear);
}

/* Answered after so long; is what is new held against the failures of before? */
static bool is_held_against(int64_t length)
{
	struct sim_try try = { .number = 1, .follows = true }, new = { .number = 1 };
	int64_t now = fails(REGION_FAILURES) + length;

	unit.unplaced = 2;
	if (!sim_library_begin(&unit, policy, &try, now))
		try.began = now; /* whatever the gate says: this one was let go before */
	sim_library_end(&unit, policy, &try, FAILURE_NONE, ++now, &random_state);
	sim_library_begin(&unit, policy, &new, ++now);
	return new.unclear;
}

Test(sim_client, what_an_outage_leaves_behind_is_owed_by_nobody)
{
	cr_expect(is_held_against(NS_PER_S / 2));
	cr_expect_not(is_held_against(2 * NS_PER_S));
}

/* The horizon of a failure counts from the last time that somebody wanted to go; one that is over
 * the rate is none. */
Test(sim_client, a_refusal_keeps_a_destination_in_mind)
{
	struct sim_try try = { .number = 1, .over_rate = true };
	int64_t now = fails(1);

	sim_library_refused(&unit, policy, &try, now + 1);
	cr_expect_eq(unit.budget.failed_at, now);
	cr_expect_eq(try.denials, 0);
	try.retry = true;
	sim_library_refused(&unit, policy, &try, now + 2);
	cr_expect_eq(unit.budget.failed_at, now + 2);
	cr_expect_eq(try.denials, 1);
	sim_library_end(&unit, policy, &try, FAILURE_REFUSED, now + 3, &random_state);
	cr_expect_eq(try.denials, 0, "refused since one went");
}

Test(sim_client, when_all_is_quiet_nothing_is_owed)
{
	struct sim_try new = { .number = 1 };
	int64_t now = fails(1);

	unit.unplaced = 2;
	sim_library_begin(&unit, policy, &new, now + 3600 * NS_PER_S);
	cr_expect_eq(unit.unplaced, 0);
	cr_expect_eq(unit.placed, 0);
}

/* As one that we have refused twice while others are answered. */
static bool goes_when_denied(uint32_t denials, uint32_t vain, bool original)
{
	int64_t now = fails(1);
	struct sim_try good = { .number = 1 }, try = { .number = 4, .follows = true };

	for (int i = 0; i < 8; i++) { /* it answers, and another failure follows */
		sim_library_begin(&unit, policy, &good, ++now);
		sim_library_end(&unit, policy, &good, FAILURE_NONE, ++now, &random_state);
	}
	unit.tried_again = 2;
	sim_library_begin(&unit, policy, &good, ++now);
	sim_library_end(&unit, policy, &good, FAILURE_REFUSED, ++now, &random_state);
	policy->original = original;
	try.denials = denials;
	try.vain = vain;
	sim_library_begin(&unit, policy, &try, ++now);
	return try.unclear;
}

Test(sim_client, who_was_refused_twice_goes_where_others_are_answered)
{
	cr_expect(goes_when_denied(2, 0, false));
	cr_expect_not(goes_when_denied(1, 0, false));
	cr_expect_not(goes_when_denied(2, 15, false), "it fails by itself");
	cr_expect_not(goes_when_denied(2, 0, true), "the rules of others know nothing of it");
}

/* What leaves a machine for a server is counted together, whoever of its programs sent it. */
Test(sim_client, a_packet_filter_is_of_the_machine)
{
	static const char one[] = "[scenario]\nduration = 20s\n"
				  "[clients a]\nrate = 50/s\nlimit = 20/s\nlibrary = off\n"
				  "[clients b]\nrate = 50/s\nlimit = 20/s\nlibrary = off\n"
				  "[server]\n";
	static const char two[] = "[scenario]\nduration = 20s\n"
				  "[clients a]\nrate = 50/s\nlimit = 20/s\nlibrary = off\n"
				  "[clients b]\nrate = 200/s\nlimit = 20/s\nlibrary = off\n"
				  "processes = 2\nhosts = 2\n[server]\n";
	const struct sim_cell *cell = play(one, "process");

	cr_expect_float_eq(cell->result.metric[SIM_ATTEMPTS], 20 * 20, 10, "%g",
	                   cell->result.metric[SIM_ATTEMPTS]);
	cell = play(two, "process");
	cr_expect_float_eq(cell->result.metric[SIM_ATTEMPTS], 2 * 20 * 20, 20, "%g",
	                   cell->result.metric[SIM_ATTEMPTS]);
}
