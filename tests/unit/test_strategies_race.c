/* SPDX-License-Identifier: MIT */
/* Threads on one destination: however they meet, never more retries than the rule allows. */
#include "budget_fixture.h"
#include "budget/strategy.h"
#include "budget/streak.h"

#define ROUNDS 3000

static struct world worlds[ROUNDS];
static cell64 shared_clock;

static void start_all(enum strategy strategy, int64_t least)
{
	for (int i = 0; i < ROUNDS; i++) {
		world_start(&worlds[i], 1);
		worlds[i].policy.strategy = strategy;
		worlds[i].policy.ratio = 0;
		worlds[i].policy.window_min = TOKENS(least);
		worlds[i].policy.min_concurrency = least;
	}
}

/* Each of them asks a few times of each new budget, some with a clock of the next slice. */
static void ask_each(struct racer *racer)
{
	for (int i = 0; i < ROUNDS; i++) {
		const struct account *account = &worlds[i].account;

		if (i % 50 == 0)
			pthread_barrier_wait(racer->line);
		for (int again = 0; again < 4; again++)
			racer->sum += strategy_of(account->policy)
			                  ->take(account, 1000,
			                         START_OF_TIME + SECONDS(racer->number % 2)) >= 0;
	}
}

Test(strategies_race, a_window_is_never_overdrawn)
{
	/* 10 in a window are one in a slice. Those that see each other may both be rejected, and
	 * once in a great while all are: then it is there for the next. */
	start_all(STRATEGY_WINDOW, 10);
	race(ask_each, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		const struct account *account = &worlds[i].account;
		int64_t now = START_OF_TIME + SECONDS(1);
		int64_t spent = slices_covering(&worlds[i].budget.spent, SECONDS(10), now);

		cr_assert_leq(spent, 2000, "%d: %ld", i, (long)spent);
		if (spent == 0)
			cr_assert_geq(strategy_of(account->policy)->take(account, 1000, now), 0,
			              "%d: lost", i);
	}
}

Test(strategies_race, what_went_is_what_was_counted)
{
	int64_t sum, counted = 0;

	start_all(STRATEGY_WINDOW, 30);
	sum = race(ask_each, NULL);
	for (int i = 0; i < ROUNDS; i++)
		counted += slices_covering(&worlds[i].budget.spent, SECONDS(10),
		                           START_OF_TIME + SECONDS(1));
	cr_expect_eq(counted, 1000 * sum);
}

Test(strategies_race, never_more_in_flight)
{
	int64_t sum, counted = 0;

	start_all(STRATEGY_CONCURRENCY, 3);
	sum = race(ask_each, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t spent = slices_covering(&worlds[i].budget.spent, SECONDS(10),
		                                START_OF_TIME + SECONDS(1));

		cr_assert(spent >= 1 && spent <= 3, "%d: %ld", i, (long)spent);
		counted += spent;
	}
	cr_expect_eq(counted, sum);
}

/* A clock that runs, threads that are held up between it and the call, and a list of who went. */
#define EACH 4000
static int64_t went_at[RACERS][EACH];

static void ask_on(struct racer *racer)
{
	uint64_t random = (uint64_t)racer->number;
	const struct account *account = racer->shared;

	pthread_barrier_wait(racer->line);
	for (int i = 0; i < EACH; i++) {
		int64_t now =
		    atomic_fetch_add(&shared_clock, NS_PER_MS) - random_upto(&random, SECONDS(0.5));

		if (strategy_of(account->policy)->take(account, 1000, now) >= 0)
			went_at[racer->number][racer->sum++] = now;
	}
}

Test(strategies_race, the_rule_holds_in_every_window)
{
	static struct world world;
	int64_t total, windows;

	world_start(&world, 1);
	world.policy.strategy = STRATEGY_WINDOW;
	world.policy.ratio = 0;
	world.policy.window_min = TOKENS(20);
	shared_clock = START_OF_TIME;
	memset(went_at, 0, sizeof(went_at));
	total = race(ask_on, &world.account);
	windows = (shared_clock - START_OF_TIME) / SECONDS(10) + 1;
	cr_expect_leq(total, 20 * windows + 20);
	cr_expect_geq(total, 10 * (windows - 1), "and it works");
	for (int a = 0; a < RACERS; a++) {
		for (int i = 0; i < EACH && went_at[a][i]; i++) {
			int64_t n = 0, end = went_at[a][i];

			for (int b = 0; b < RACERS; b++)
				for (int j = 0; j < EACH && went_at[b][j]; j++)
					n += went_at[b][j] <= end &&
					     went_at[b][j] > end - SECONDS(10);
			/* The clock runs a thousand times too fast here, so that a busy machine
			 * stops a thread for more than a window: one too many for each that was
			 * (budget/slices.h). */
			cr_assert_leq(n, 20 + RACERS - 1);
		}
	}
}

/* One repays, one earns: a retry's tokens come back once. */
static void succeed(struct racer *racer)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 50 == 0)
			pthread_barrier_wait(racer->line);
		budget_success(&worlds[i].account, START_OF_TIME);
	}
}

Test(strategies_race, a_refund_is_paid_once)
{
	start_all(STRATEGY_BUCKET, 0);
	for (int i = 0; i < ROUNDS; i++) {
		worlds[i].policy.refund = 1;
		worlds[i].policy.bucket.earn = 1;
		worlds[i].policy.bucket.capacity = TOKENS(100);
		for (int retries = 0; retries < 3; retries++)
			cr_assert_eq(budget_admit(&worlds[i].account, 1000, START_OF_TIME),
			             ADMITTED);
	}
	race(succeed, NULL);
	for (int i = 0; i < ROUNDS; i++)
		cr_assert_eq(bucket_peek(&worlds[i].budget.bucket, &worlds[i].policy.bucket),
		             TOKENS(97) + 1000 + RACERS - 1);
}
