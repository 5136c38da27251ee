/* SPDX-License-Identifier: MIT */
/*
 * Two threads that ask for the last retry, stepped through at every atomic access (interleave.h).
 * There are too many schedules to walk them all, so they are drawn; and one thread is killed after
 * each of its steps.
 */
#ifndef __SANITIZE_THREAD__

/* Beside what the other tests are linked with. */
#define slices_add           stepped_slices_add
#define slices_undo          stepped_slices_undo
#define slices_sum           stepped_slices_sum
#define slices_until         stepped_slices_until
#define strategy_window      stepped_window
#define strategy_concurrency stepped_concurrency
#define concurrency_end      stepped_concurrency_end
#include "budget_fixture.h"
#include "budget/strategy.h"
#include "budget/concurrency.h"
#include "interleave.h"

#undef atomic_load
#undef atomic_compare_exchange_weak
#define atomic_load(cell)                              load(cell)
#define atomic_compare_exchange_weak(cell, seen, next) compare_exchange(cell, seen, next)
#undef atomic_compare_exchange_strong
#define atomic_compare_exchange_strong(cell, seen, next) compare_exchange(cell, seen, next)
#include "../../shim/budget/slices.c"
#include "../../shim/budget/window.c"
#define fits concurrency_fits
#include "../../shim/budget/concurrency.c"

static struct actor {
	int64_t now;
	bool refund; /* the process-wide bucket says no */
	bool went;
} actors[2];

static struct world world;
static const struct strategy_calls *calls;

static void act(int who)
{
	struct actor *me = &actors[who];
	int64_t taken = calls->take(&world.account, 1000, me->now);

	me->went = taken >= 0;
	if (me->went && me->refund) {
		calls->refund(&world.account, taken, false);
		me->went = false;
	}
}

static void cast(enum strategy strategy)
{
	uint64_t seed = 1;

	world_start(&world, seed);
	calls = strategy == STRATEGY_WINDOW ? &stepped_window : &stepped_concurrency;
	world.policy.strategy = strategy;
	world.policy.ratio = 0;
	world.policy.window_min = TOKENS(1);
	world.policy.min_concurrency = 1;
	for (int i = 0; i < 2; i++) {
		actors[i] = (struct actor) { .now = START_OF_TIME };
		threads[i].lives = FOREVER;
	}
}

static bool can_go(int who)
{
	return !threads[who].done && threads[who].lives != 0;
}

/* One schedule: turns of random lengths, some of them a step, some to the end. */
static void run(uint64_t *random)
{
	interleaved = act;
	threads_start();
	while (can_go(0) || can_go(1)) {
		int who = (int)random_upto(random, 1);
		int64_t turn = random_upto(random, 5) ? random_upto(random, 30) : FOREVER;

		if (!can_go(who))
			who = !who;
		for (; turn >= 0 && can_go(who); turn--) {
			threads[who].lives -= threads[who].lives != FOREVER;
			thread_step(who);
		}
	}
}

static const enum strategy both[] = { STRATEGY_WINDOW, STRATEGY_CONCURRENCY };

Test(strategies_interleave, the_last_retry_goes_once)
{
	uint64_t random = 1;
	int went = 0, none = 0;

	for (int i = 0; i < 6000; i++) {
		cast(both[i % 2]);
		actors[1].now += (i / 2 % 3) * NS_PER_S; /* or in a later slice */
		run(&random);
		cr_assert(!actors[0].went || !actors[1].went, "both went, schedule %d", i);
		went += actors[0].went || actors[1].went;
		none += !actors[0].went && !actors[1].went;
		/* What went is what is counted. */
		cr_assert_eq(slices_covering(&world.budget.spent, SECONDS(10), actors[1].now) > 0,
		             actors[0].went || actors[1].went);
	}
	cr_expect_gt(went, 3000);
	cr_expect_gt(none, 0, "the schedules do interleave");
}

Test(strategies_interleave, what_is_given_back_is_there_again)
{
	uint64_t random = 2;

	for (int i = 0; i < 6000; i++) {
		cast(both[i % 2]);
		actors[0].refund = actors[1].refund = true;
		run(&random);
		cr_assert_eq(slices_covering(&world.budget.spent, SECONDS(10), START_OF_TIME), 0);
		cr_assert_geq(calls->take(&world.account, 1000, START_OF_TIME), 0);
	}
}

/* What a killed one has counted, and perhaps not used, is gone after a window. */
Test(strategies_interleave, a_kill_at_any_step_leaves_a_valid_budget)
{
	uint64_t random = 3;

	for (int lives = 0; lives < 400; lives++) {
		for (int i = 0; i < 2; i++) {
			cast(both[i]);
			threads[0].lives = lives;
			actors[0].refund = lives % 2;
			run(&random);
			cr_assert(threads[1].done);
			cr_assert(!actors[0].went || !actors[1].went);
			cr_assert_leq(
			    slices_covering(&world.budget.spent, SECONDS(10), START_OF_TIME),
			    i ? 2 : 2000);
			cr_assert_geq(
			    calls->take(&world.account, 1000, START_OF_TIME + SECONDS(11)), 0);
		}
	}
}

#endif
