/* SPDX-License-Identifier: MIT */
/*
 * Two threads that are stepped through lock-free code: a test compiles that code into itself with
 * its atomics turned into points where the other thread may take over (the functions below), and
 * runs both threads as coroutines, so that a schedule is a list of choices and can be repeated,
 * walked to the last one, or stopped for good at a step, which is what a kill does.
 *
 * Not for ThreadSanitizer, which does not know coroutines; nothing runs in parallel here.
 */
#ifndef RETRYBUDGET_TESTS_INTERLEAVE_H
#define RETRYBUDGET_TESTS_INTERLEAVE_H

#include "sys/cell.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <ucontext.h>

enum { STACK = 256 * 1024, LONGEST = 64, FOREVER = INT32_MAX };

static struct thread_of_two {
	int lives; /* steps after which it is killed, FOREVER = it is not */
	bool done;
	ucontext_t context;
} threads[2];

static ucontext_t scheduler;
static int running = -1;
static char stacks[2][STACK];

/* What a thread does; who: 0 or 1. */
static void (*interleaved)(int who);

/* The schedule: who went at each step where both could. */
static uint8_t chosen[LONGEST];
static int length;

/* Where the other one may take over. */
static void step(void)
{
	if (running >= 0)
		swapcontext(&threads[running].context, &scheduler);
}

static inline bool compare_exchange(cell64 *cell, int64_t *seen, int64_t next)
{
	step();
	return atomic_compare_exchange_strong(cell, seen, next);
}

static inline int64_t load(const cell64 *cell)
{
	step();
	return *cell;
}

static inline void store(cell64 *cell, int64_t value)
{
	step();
	*cell = value;
}

static inline void add(cell64 *cell, int64_t value)
{
	step();
	*cell += value;
}

static void begin(void)
{
	int who = running;

	interleaved(who);
	threads[who].done = true;
}

static void threads_start(void)
{
	for (int i = 0; i < 2; i++) {
		threads[i].done = false;
		getcontext(&threads[i].context);
		threads[i].context.uc_stack.ss_sp = stacks[i];
		threads[i].context.uc_stack.ss_size = STACK;
		threads[i].context.uc_link = &scheduler;
		makecontext(&threads[i].context, begin, 0);
	}
}

static void thread_step(int who)
{
	running = who;
	swapcontext(&scheduler, &threads[who].context);
	running = -1;
}

static inline void run_schedule(void)
{
	int decisions = 0;

	threads_start();
	for (int left = threads[0].lives; !threads[0].done || !threads[1].done;) {
		int next = threads[0].done || left == 0;

		if (!next && !threads[1].done) {
			cr_assert_lt(decisions, LONGEST);
			if (decisions == length)
				chosen[length++] = 0;
			next = chosen[decisions++];
		}
		if (threads[next].done)
			break; /* the other one was killed */
		left -= next == 0 && left != FOREVER;
		thread_step(next);
	}
	length = decisions;
}

/* To the next schedule in depth-first order; false after the last. */
static inline bool next_schedule(void)
{
	while (length > 0 && chosen[length - 1] == 1)
		length--;
	if (length == 0)
		return false;
	chosen[length - 1] = 1;
	return true;
}

/* Runs every schedule of what[], each from the state that prepare() makes, the first thread killed
 * after `lives` steps, and asks check() after each. Returns how many there were. */
static inline int walk_schedules(void (*what)(int who), int lives, void (*prepare)(void),
                                 void (*check)(void))
{
	int schedules = 0;

	interleaved = what;
	threads[0].lives = lives;
	threads[1].lives = FOREVER;
	length = 0;
	do {
		prepare();
		run_schedule();
		check();
		schedules++;
	} while (next_schedule());
	return schedules;
}

#endif
