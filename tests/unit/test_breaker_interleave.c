/* SPDX-License-Identifier: MIT */
/*
 * Two threads at one breaker, stepped through at every atomic access (interleave.h): they fail, ask
 * and succeed at once. Schedules are drawn, for there are too many to walk them all; and one thread
 * is killed after each of its steps.
 */
#ifndef __SANITIZE_THREAD__

/* Beside what the other tests are linked with. */
#define slices_add        stepped_slices_add2
#define slices_undo       stepped_slices_undo2
#define slices_sum        stepped_slices_sum2
#define slices_until      stepped_slices_until2
#define breaker_wait      stepped_breaker_wait
#define breaker_ask       stepped_breaker_ask
#define breaker_released  stepped_breaker_released
#define breaker_failed    stepped_breaker_failed
#define breaker_succeeded stepped_breaker_succeeded
#include "budget_fixture.h"
#include "budget/breaker.h"
#include "interleave.h"

#undef atomic_load
#undef atomic_store
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_strong
#define atomic_load(cell)                                load(cell)
#define atomic_store(cell, value)                        store(cell, value)
#define atomic_compare_exchange_weak(cell, seen, next)   compare_exchange(cell, seen, next)
#define atomic_compare_exchange_strong(cell, seen, next) compare_exchange(cell, seen, next)
#include "../../shim/budget/slices.c"
#include "../../shim/budget/breaker.c"

#define LATER (START_OF_TIME + SECONDS(40))

static struct breaker breaker;
static struct breaker_rule rule;

static struct {
	uint64_t random;
	enum breaker_change change;
	enum breaker_verdict verdict;
} actors[2];

static void fail(int who)
{
	actors[who].change =
	    breaker_failed(&breaker, &rule, true, START_OF_TIME, &actors[who].random);
}

static void ask(int who)
{
	actors[who].verdict = breaker_ask(&breaker, &rule, LATER, &actors[who].change);
}

static void succeed(int who)
{
	actors[who].change = breaker_succeeded(&breaker, &rule, true, LATER);
}

static void fail_or_succeed(int who)
{
	if (who == 0)
		fail(who);
	else
		succeed(who);
}

static void prepare(int failures)
{
	memset(&breaker, 0, sizeof(breaker));
	rule = (struct breaker_rule) {
		.failures = 3,
		.rate = 900000,
		.volume = 100,
		.window = SECONDS(10),
		.open = SECONDS(30),
		.probes = 1,
		.successes = 2,
		.on = 1,
	};
	for (int i = 0; i < 2; i++) {
		actors[i].random = (uint64_t)i + 1;
		actors[i].change = BREAKER_AS_IT_WAS;
		actors[i].verdict = BREAKER_HOLD;
		threads[i].lives = FOREVER;
	}
	for (int i = 0; i < failures; i++)
		breaker_failed(&breaker, &rule, false, START_OF_TIME, &actors[0].random);
}

static bool can_go(int who)
{
	return !threads[who].done && threads[who].lives != 0;
}

/* One schedule: turns of random lengths, some of them a step, some to the end. */
static void run(void (*what)(int who), uint64_t *random)
{
	interleaved = what;
	threads_start();
	while (can_go(0) || can_go(1)) {
		int who = (int)random_upto(random, 1);
		int64_t turn = random_upto(random, 5) ? random_upto(random, 20) : FOREVER;

		if (!can_go(who))
			who = !who;
		for (; turn >= 0 && can_go(who); turn--) {
			threads[who].lives -= threads[who].lives != FOREVER;
			thread_step(who);
		}
	}
}

static int count(enum breaker_change change)
{
	return (actors[0].change == change) + (actors[1].change == change);
}

Test(breaker_interleave, the_last_failures_open_it_once)
{
	uint64_t random = 1;

	for (int i = 0; i < 4000; i++) {
		prepare(1 + i % 2); /* both are needed, or one is enough */
		run(fail, &random);
		cr_assert_eq(count(BREAKER_OPENED), 1, "schedule %d", i);
		cr_assert(!breaker_is_closed(&breaker));
	}
}

Test(breaker_interleave, one_half_opens_it_and_one_probes)
{
	uint64_t random = 2;
	int went = 0;

	for (int i = 0; i < 4000; i++) {
		enum breaker_change change;

		prepare(3);
		run(ask, &random);
		cr_assert_eq(count(BREAKER_HALF_OPENED), 1, "schedule %d", i);
		cr_assert(actors[0].verdict == BREAKER_HOLD || actors[1].verdict == BREAKER_HOLD,
		          "both probe, schedule %d", i);
		/* Each may have stood in the other's way; then the permit is there for the next. */
		if (actors[0].verdict == actors[1].verdict)
			cr_assert_eq(breaker_ask(&breaker, &rule, LATER, &change), BREAKER_PROBE);
		else
			went++;
	}
	cr_expect_gt(went, 1000);
}

Test(breaker_interleave, the_last_successes_close_it_once)
{
	uint64_t random = 3;

	for (int i = 0; i < 4000; i++) {
		prepare(3);
		ask(0);
		run(succeed, &random);
		cr_assert_eq(count(BREAKER_CLOSED), 1, "schedule %d", i);
		cr_assert_eq(breaker.state, 0);
	}
}

/* A failure and a success of two probes: whichever comes first, nothing is half done. */
Test(breaker_interleave, a_failure_opens_it_or_comes_after_it_was_closed)
{
	uint64_t random = 4;
	int opened = 0, closed = 0;

	for (int i = 0; i < 4000; i++) {
		prepare(3);
		rule.successes = 1;
		ask(0);
		actors[0].change = BREAKER_AS_IT_WAS;
		run(fail_or_succeed, &random);
		opened += actors[0].change == BREAKER_OPENED;
		closed += actors[1].change == BREAKER_CLOSED;
		cr_assert(actors[0].change == BREAKER_OPENED || actors[1].change == BREAKER_CLOSED);
		cr_assert_eq(breaker_is_closed(&breaker), actors[1].change == BREAKER_CLOSED &&
		                                              actors[0].change != BREAKER_OPENED);
	}
	cr_expect(opened > 500 && closed > 500, "%d, %d", opened, closed);
}

/* Killed at any step: an open time later somebody goes, whatever it left behind. */
Test(breaker_interleave, a_kill_at_any_step_locks_nobody_out)
{
	static void (*const what[])(int) = { fail, ask, succeed };
	uint64_t random = 5;

	for (int lives = 0; lives < 150; lives++) {
		for (int i = 0; i < 3; i++) {
			enum breaker_change change;

			prepare(i == 0 ? 2 : 3);
			if (i == 2)
				ask(1);
			threads[0].lives = lives;
			run(what[i], &random);
			cr_assert(threads[1].done);
			cr_assert_neq(breaker_ask(&breaker, &rule, LATER + SECONDS(40), &change),
			              BREAKER_HOLD, "%d, %d", lives, i);
		}
	}
}

#endif
