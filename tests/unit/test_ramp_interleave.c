/* SPDX-License-Identifier: MIT */
/*
 * Every interleaving of two threads on one ramp (interleave.h), and one of them killed after each
 * of its steps.
 */
#ifndef __SANITIZE_THREAD__

/* Beside the ramp that the other tests are linked with. */
#define ramp_throttled stepped_ramp_throttled
#define ramp_begin     stepped_ramp_begin
#define ramp_stop      stepped_ramp_stop
#define ramp_take      stepped_ramp_take
#define ramp_answered  stepped_ramp_answered
#define ramp_failed    stepped_ramp_failed
#define ramp_lasts     stepped_ramp_lasts
#define ramp_is_idle   stepped_ramp_is_idle
#define ramp_is_wanted stepped_ramp_is_wanted
#include "budget_fixture.h"
#include "interleave.h"

static inline bool swap(cell64 *cell, int64_t from, int64_t to)
{
	return compare_exchange(cell, &from, to);
}

#undef LOAD
#undef LOAD_ORDERED
#define LOAD(place)                         load(&(place))
#define LOAD_ORDERED(place)                 load(&(place))
#define cell_swap(cell, from, next)         swap(cell, from, next)
#define cell_swap_ordered(cell, from, next) swap(cell, from, next)
#include "../../shim/budget/ramp.c"

static struct ramp first, ramp;
static int64_t moments[2];
static int went[2];

static void prepare(void)
{
	ramp.step = (int64_t)first.step;
	ramp.counts = (int64_t)first.counts;
	went[0] = went[1] = 0;
}

/* A ramp in a step where so many may go, and so many went. */
static void stand(int64_t limit, int64_t gone, int64_t answered)
{
	first.step = step_word(START_OF_TIME, 0, 3, limit);
	first.counts = INT64_C(3) << STEP_AT | gone << WENT | answered << ANSWERED;
	moments[0] = moments[1] = START_OF_TIME + RAMP_STEP - SECONDS(0.01);
}

static int64_t gone(void)
{
	return part(ramp.counts, WENT, COUNT_BITS);
}

static void take_two(int who)
{
	for (int i = 0; i < 2; i++)
		went[who] += ramp_take(&ramp, moments[who]);
}

static void take_one(int who)
{
	went[who] += ramp_take(&ramp, moments[who]);
}

static void take_and_answer(int who)
{
	if (ramp_take(&ramp, moments[who])) {
		went[who]++;
		ramp_answered(&ramp, who ? RAMP_STEP * 8 : 1);
	}
}

static void begin_and_take(int who)
{
	ramp_begin(&ramp, true, moments[who]);
	went[who] += ramp_take(&ramp, moments[who]);
}

static void stop_or_take(int who)
{
	if (who == 0)
		ramp_stop(&ramp, moments[0]);
	else
		went[1] += ramp_take(&ramp, moments[1]);
}

static void expect_no_more_than_may(void)
{
	cr_assert_eq(went[0] + went[1], 3);
	cr_assert_eq(gone(), 3);
	cr_assert(part(ramp.counts, REFUSED_AT, 1), "the fourth was refused");
}

Test(ramp_interleave, of_four_three_go)
{
	stand(3, 0, 0);
	cr_expect_gt(walk_schedules(take_two, FOREVER, prepare, expect_no_more_than_may), 100);
}

static void expect_one_step_more(void)
{
	cr_assert_eq(limit_of(ramp.step), 8, "doubled once");
	cr_assert_eq(part(ramp.step, NUMBER, NUMBER_BITS), 4);
	cr_assert_eq(went[0] + went[1], 1, "in its first moment");
	cr_assert_eq(gone(), 1);
}

Test(ramp_interleave, a_step_begins_once)
{
	stand(4, 4, 4);
	first.counts |= INT64_C(1) << REFUSED_AT;
	moments[0] = moments[1] = START_OF_TIME + RAMP_STEP + SECONDS(0.01);
	cr_expect_gt(walk_schedules(take_one, FOREVER, prepare, expect_one_step_more), 100);
	moments[1] += SECONDS(0.002);
	cr_expect_gt(walk_schedules(take_one, FOREVER, prepare, expect_one_step_more), 100);
}

static void expect_counted(void)
{
	cr_assert_eq(went[0] + went[1], 2);
	cr_assert_eq(gone(), 2);
	cr_assert_eq(part(ramp.counts, ANSWERED, COUNT_BITS), 2);
	cr_assert_eq(part(ramp.counts, QUICK_AT, SPEED_BITS), 1);
	cr_assert_eq(part(ramp.counts, SLOW_AT, SPEED_BITS), 5);
}

Test(ramp_interleave, no_count_is_lost)
{
	stand(8, 0, 0);
	cr_expect_gt(walk_schedules(take_and_answer, FOREVER, prepare, expect_counted), 500);
}

static void expect_begun_once(void)
{
	cr_assert_eq(limit_of(ramp.step), RAMP_FIRST);
	cr_assert(went[0] + went[1] >= 1);
	cr_assert(part(ramp.counts, WENT, COUNT_BITS) <= RAMP_FIRST);
}

Test(ramp_interleave, of_two_successes_one_begins_it)
{
	first.step = THROTTLED;
	first.counts = 0;
	moments[0] = moments[1] = START_OF_TIME;
	cr_expect_gt(walk_schedules(begin_and_take, FOREVER, prepare, expect_begun_once), 50);
}

static void expect_broken_off(void)
{
	cr_assert_eq(ramp.step, BROKEN_OFF, "whatever step it had come to");
	cr_assert_eq(went[1], 1);
}

Test(ramp_interleave, one_stops_it_and_one_takes)
{
	stand(4, 4, 4);
	moments[0] = moments[1] = START_OF_TIME + RAMP_STEP + SECONDS(0.01);
	cr_expect_gt(walk_schedules(stop_or_take, FOREVER, prepare, expect_broken_off), 20);
}

static void expect_valid(void)
{
	cr_assert_eq(gone(), 1, "if not the one, the other one goes");
	cr_assert_leq(went[0] + went[1], 1);
	cr_assert(limit_of(ramp.step) >= 4 && limit_of(ramp.step) <= 8);
	cr_assert_leq(gone(), limit_of(ramp.step));
	cr_assert(ramp_take(&ramp, START_OF_TIME + 2 * RAMP_STEP + SECONDS(0.02)),
	          "what is left works");
}

Test(ramp_interleave, a_kill_at_any_step_leaves_a_valid_ramp)
{
	stand(4, 4, 4);
	first.counts |= INT64_C(1) << REFUSED_AT;
	moments[0] = moments[1] = START_OF_TIME + RAMP_STEP + SECONDS(0.01);
	for (int lives = 0; lives < 14; lives++)
		walk_schedules(take_one, lives, prepare, expect_valid);
}

#endif
