/* SPDX-License-Identifier: MIT */
/* The default policy as plain numbers, and helpers for tests that race threads on one budget. */
#ifndef RETRYBUDGET_TESTS_UNIT_BUDGET_FIXTURE_H
#define RETRYBUDGET_TESTS_UNIT_BUDGET_FIXTURE_H

#include "budget/budget.h"
#include "budget/streak.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

/* An uptime of eleven days and an odd bit: virtual clocks start here. */
#define START_OF_TIME (INT64_C(1000000) * NS_PER_S + 123456789)

#define TOKENS(n)  ((int64_t)((n)*MT_PER_TOKEN))
#define SECONDS(n) ((int64_t)((n)*NS_PER_S))

static const struct policy default_policy = {
	.bucket = { .capacity = 10000, .earn = 100, .floor = 200, .start = PPM_WHOLE },
	.backoff = { .base = 100 * NS_PER_MS,
	             .factor = 2000,
	             .cap = 10 * NS_PER_S,
	             .min = 10 * NS_PER_MS,
	             .jitter = JITTER_EQUAL },
	.ratio = 200,
	.window = 10 * NS_PER_S,
	.window_min = 2000,
	.k = 2000,
	.target = PPM_WHOLE / 10,
	.min_concurrency = 3,
	.sample = PPM_WHOLE,
	.instances = 1,
	.cost = 1000,
	.cost_timeout = 1000,
	.probe = 10 * NS_PER_S,
	.hold = 250 * NS_PER_MS,
	.horizon = 60 * NS_PER_S,
	.min_life = 2 * NS_PER_S,
	.mode = MODE_ENFORCE,
};

static const struct bucket_rule default_process = {
	.capacity = 100000, .earn = 100, .floor = 2000, .start = PPM_WHOLE
};

/* One destination, the process-wide bucket and the rules for both, all new. */
struct world {
	struct policy policy;
	struct bucket_rule process_rule;
	struct budget budget;
	struct bucket process;
	struct account account;
	uint64_t random;
};

static inline void world_start(struct world *world, uint64_t seed)
{
	memset(world, 0, sizeof(*world));
	world->policy = default_policy;
	world->process_rule = default_process;
	world->random = seed;
	world->account = (struct account) {
		.budget = &world->budget,
		.policy = &world->policy,
		.process = &world->process,
		.process_rule = &world->process_rule,
	};
}

/* A destination whose first try has just failed, at START_OF_TIME. */
static inline void world_fail_first_try(struct world *world)
{
	world_start(world, 1);
	budget_first_try(&world->account, START_OF_TIME);
	cr_assert_eq(
	    budget_failure(&world->account, false, START_OF_TIME, START_OF_TIME, &world->random),
	    1);
}

#define RACERS 8

struct racer {
	void (*run)(struct racer *racer);
	void *shared;
	pthread_barrier_t *line;
	int number;
	int64_t sum; /* whatever run() adds up */
};

static inline void *racer_main(void *arg)
{
	struct racer *racer = arg;

	racer->run(racer);
	return NULL;
}

/* Runs RACERS threads to their end; returns the total of their sums. */
static inline int64_t race(void (*run)(struct racer *racer), void *shared)
{
	pthread_t threads[RACERS];
	struct racer racers[RACERS];
	pthread_barrier_t line;
	int64_t total = 0;

	pthread_barrier_init(&line, NULL, RACERS);
	for (int i = 0; i < RACERS; i++) {
		racers[i] = (struct racer) { run, shared, &line, i, 0 };
		cr_assert_eq(pthread_create(&threads[i], NULL, racer_main, &racers[i]), 0);
	}
	for (int i = 0; i < RACERS; i++) {
		pthread_join(threads[i], NULL);
		total += racers[i].sum;
	}
	pthread_barrier_destroy(&line);
	return total;
}

#endif
