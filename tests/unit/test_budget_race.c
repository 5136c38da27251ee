/* SPDX-License-Identifier: MIT */
/* Threads on one budget: one prober, one report of a recovery, each token spent once. */
#include "budget_fixture.h"
#include "budget/streak.h"

static struct world world;
static const struct account *const account = &world.account;

#define ROUNDS 2000
static struct budget crowd[ROUNDS];

static void probe_each(struct racer *racer)
{
	struct world *mine = racer->shared;

	for (int i = 0; i < ROUNDS; i++) {
		struct account each = {
			.budget = &crowd[i],
			.policy = &mine->policy,
			.process = &mine->process,
			.process_rule = &mine->process_rule,
		};

		if (i % 100 == 0)
			pthread_barrier_wait(racer->line);
		/* Clocks differ a little between threads. */
		racer->sum +=
		    budget_admit(&each, 1000, START_OF_TIME + racer->number * 50) == ADMITTED_PROBE;
	}
}

Test(budget_race, racing_threads_make_one_probe)
{
	world_start(&world, 1);
	world.policy.bucket.start = world.policy.bucket.floor = 0;
	memset(crowd, 0, sizeof(crowd));
	for (int i = 0; i < ROUNDS; i++)
		crowd[i].admitted_at = START_OF_TIME - SECONDS(10) + (i % 2);
	/* Odd rounds fall due 1 ns late for the first racer: one of the others wins those. */
	cr_expect_eq(race(probe_each, &world), ROUNDS);
}

#define FAILURES 300000

static void fail_and_recover(struct racer *racer)
{
	uint64_t random = (uint64_t)racer->number;

	pthread_barrier_wait(racer->line);
	for (int i = 0; i < FAILURES; i++) {
		if (racer->number % 2)
			budget_failure(account, true, START_OF_TIME + i, START_OF_TIME + i,
			               &random);
		else
			racer->sum += budget_success(account, START_OF_TIME + i);
	}
}

Test(budget_race, racing_successes_report_each_failure_once)
{
	world_start(&world, 1);
	cr_expect_eq(race(fail_and_recover, NULL) + budget_success(account, START_OF_TIME),
	             RACERS / 2 * FAILURES);
}

static void retry_at_once(struct racer *racer)
{
	pthread_barrier_wait(racer->line);
	for (int i = 0; i < 20000; i++)
		racer->sum += budget_admit(account, 1000, START_OF_TIME) == ADMITTED;
}

Test(budget_race, racing_retries_spend_each_token_once)
{
	world_start(&world, 1);
	world.policy.bucket.capacity = TOKENS(5000);
	world.process_rule.capacity = TOKENS(3000);
	budget_first_try(account, START_OF_TIME);
	cr_expect_eq(race(retry_at_once, NULL), 3000);
	cr_expect_eq(bucket_peek(&world.process, &world.process_rule), 0);
	cr_expect_eq(bucket_peek(&world.budget.bucket, &world.policy.bucket), TOKENS(2000),
	             "refunds are exact");
}
