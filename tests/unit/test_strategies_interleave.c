/* SPDX-License-Identifier: MIT */
/*
 * Two threads that ask for the last retry, stepped through at every atomic access: the strategies
 * are compiled into this file with their atomics turned into points where the other thread may take
 * over. There are too many schedules to walk them all, so they are drawn; and one thread is stopped
 * for good after each of its steps, which is what a kill does.
 *
 * Not built for ThreadSanitizer, which does not know coroutines; nothing runs in parallel here.
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

#include <ucontext.h>

static void step(void);

static bool compare_exchange(cell64 *cell, int64_t *seen, int64_t next)
{
	step();
	return atomic_compare_exchange_strong(cell, seen, next);
}

static int64_t load(const cell64 *cell)
{
	step();
	return *cell;
}

#undef atomic_load
#undef atomic_compare_exchange_weak
#define atomic_load(cell)                              load(cell)
#define atomic_compare_exchange_weak(cell, seen, next) compare_exchange(cell, seen, next)
#undef atomic_compare_exchange_strong
#define atomic_compare_exchange_strong(cell, seen, next) compare_exchange(cell, seen, next)
#include "../../shim/budget/slices.c"
#include "../../shim/budget/window.c"
#define fits   concurrency_fits
#define within concurrency_within
#include "../../shim/budget/concurrency.c"

enum { STACK = 256 * 1024, FOREVER = INT32_MAX };

static struct actor {
	int64_t now;
	bool give_back; /* the process-wide bucket says no */
	int lives;      /* steps after which it is killed */
	bool went, done;
	ucontext_t context;
} actors[2];

static struct world world;
static const struct strategy_calls *calls;
static ucontext_t scheduler;
static struct actor *running;
static char stacks[2][STACK];

static void step(void)
{
	if (running)
		swapcontext(&running->context, &scheduler);
}

static void act(void)
{
	struct actor *me = running;
	int64_t taken = calls->take(&world.account, 1000, me->now);

	me->went = taken >= 0;
	if (me->went && me->give_back) {
		calls->give_back(&world.account, taken, false);
		me->went = false;
	}
	me->done = true;
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
		actors[i] = (struct actor) { .now = START_OF_TIME, .lives = FOREVER };
		getcontext(&actors[i].context);
		actors[i].context.uc_stack.ss_sp = stacks[i];
		actors[i].context.uc_stack.ss_size = STACK;
		actors[i].context.uc_link = &scheduler;
		makecontext(&actors[i].context, act, 0);
	}
}

/* One schedule: turns of random lengths, some of them a step, some to the end. */
static void run(uint64_t *random)
{
	while (!actors[0].done || !actors[1].done) {
		int who = (int)random_upto(random, 1);
		int64_t turn = random_upto(random, 5) ? random_upto(random, 30) : FOREVER;

		if (actors[who].done || actors[who].lives == 0)
			who = !who;
		if (actors[who].done || actors[who].lives == 0)
			return;
		for (; turn >= 0 && !actors[who].done && actors[who].lives > 0; turn--) {
			actors[who].lives -= actors[who].lives != FOREVER;
			running = &actors[who];
			swapcontext(&scheduler, &running->context);
			running = NULL;
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
		actors[0].give_back = actors[1].give_back = true;
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
			actors[0].lives = lives;
			actors[0].give_back = lives % 2;
			run(&random);
			cr_assert(actors[1].done);
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
