/* SPDX-License-Identifier: MIT */
/*
 * Every interleaving of a success and a verdict that has seen a failure before (interleave.h), by
 * the words that they decide together: the streak, and the step of the ramp.
 */
#ifndef __SANITIZE_THREAD__

/* Beside the budget that the other tests are linked with. */
#define ramp_throttled          between_ramp_throttled
#define ramp_begin              between_ramp_begin
#define ramp_stop               between_ramp_stop
#define ramp_take               between_ramp_take
#define ramp_answered           between_ramp_answered
#define ramp_failed             between_ramp_failed
#define ramp_lasts              between_ramp_lasts
#define ramp_is_wanted          between_ramp_is_wanted
#define ramp_is_idle            between_ramp_is_idle
#define budget_is_barred        between_budget_is_barred
#define budget_cost             between_budget_cost
#define budget_tell_first_try   between_budget_tell_first_try
#define budget_level            between_budget_level
#define budget_token_wait       between_budget_token_wait
#define budget_has_rested       between_budget_has_rested
#define budget_retry_after_wait between_budget_retry_after_wait
#define budget_is_invited       between_budget_is_invited
#define budget_due              between_budget_due
#define budget_admit            between_budget_admit
#define budget_admit_free       between_budget_admit_free
#define budget_verdict          between_budget_verdict
#define budget_probe_wait       between_budget_probe_wait
#define budget_pay_wait         between_budget_pay_wait
#define budget_is_exhausted     between_budget_is_exhausted
#define budget_is_refilled      between_budget_is_refilled
#define budget_unclear          between_budget_unclear
#define budget_source           between_budget_source
#define budget_refund           between_budget_refund
#define budget_failure          between_budget_failure
#define budget_answered_before  between_budget_answered_before
#define budget_failed_before    between_budget_failed_before
#define budget_success          between_budget_success
#define budget_retry_after      between_budget_retry_after
#include "budget_fixture.h"
#include "interleave.h"

static struct world world;

static bool is_decided_together(const cell64 *cell)
{
	return cell == &world.budget.streak || cell == &world.budget.ramp.step;
}

static inline int64_t load_one(const cell64 *cell)
{
	return is_decided_together(cell) ? load(cell) : *cell;
}

static inline bool swap_one(cell64 *cell, int64_t from, int64_t to)
{
	if (is_decided_together(cell))
		step();
	return atomic_compare_exchange_strong(cell, &from, to);
}

static inline int64_t exchange_one(cell64 *cell, int64_t next)
{
	int64_t before;

	if (is_decided_together(cell))
		step();
	before = *cell;
	*cell = next;
	return before;
}

#undef LOAD
#undef LOAD_ORDERED
#undef atomic_exchange
#define LOAD(place)                         load_one(&(place))
#define LOAD_ORDERED(place)                 load_one(&(place))
#define cell_swap(cell, from, next)         swap_one(cell, from, next)
#define cell_swap_ordered(cell, from, next) swap_one(cell, from, next)
#define atomic_exchange(cell, next)         exchange_one(cell, next)
#include "../../shim/budget/budget.c"
#include "../../shim/budget/budget_wait.c"
#include "../../shim/budget/ramp.c"
#include "../../shim/budget/streak.c"

/* A way back that has failed again, of a destination without an answer for a while. */
static void prepare(void)
{
	world_start(&world, 1);
	world.budget.streak = 3;
	world.budget.began_at = START_OF_TIME - SECONDS(5);
	world.budget.failed_at = START_OF_TIME;
	world.budget.allowance.answered_at = START_OF_TIME - SECONDS(5);
	world.budget.ramp.step = step_word(START_OF_TIME, 0, 3, 4);
}

static void act(int who)
{
	int64_t now = START_OF_TIME + SECONDS(0.01);

	if (who == 0)
		(void)budget_verdict(&world.account, 1000, now);
	else
		(void)budget_success(&world.account, now);
}

static void expect_a_way_back(void)
{
	cr_assert_eq(world.budget.streak, 0);
	cr_assert(limit_of(world.budget.ramp.step) > 0, "0x%jx", (uintmax_t)world.budget.ramp.step);
}

Test(outage_interleave, no_stop_comes_after_the_success)
{
	cr_expect_gt(walk_schedules(act, FOREVER, prepare, expect_a_way_back), 100);
}

#endif
