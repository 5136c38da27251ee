/* SPDX-License-Identifier: MIT */
/* Threads on one token bucket: no token lost, none spent twice, no moment paid twice. */
#include "budget_fixture.h"

static struct bucket bucket;
static struct bucket_rule shared_rule;
static cell64 shared_clock;

static void take_and_put(struct racer *racer)
{
	uint64_t random = (uint64_t)racer->number;

	pthread_barrier_wait(racer->line);
	for (int i = 0; i < 400000; i++) {
		int64_t mt = random_upto(&random, 3000);

		if (random_next(&random) % 2) {
			bucket_deposit(racer->shared, &shared_rule, mt);
			racer->sum += mt;
		} else {
			int64_t taken =
			    bucket_withdraw(racer->shared, &shared_rule, mt, START_OF_TIME);

			racer->sum -= taken > 0 ? taken : 0;
		}
	}
}

Test(bucket_race, threads_lose_and_invent_nothing)
{
	int64_t sum;

	shared_rule = (struct bucket_rule) { .capacity = BUCKET_CAPACITY_MAX, .start = 500000 };
	memset(&bucket, 0, sizeof(bucket));
	sum = race(take_and_put, &bucket);
	cr_expect_eq(bucket_peek(&bucket, &shared_rule), BUCKET_CAPACITY_MAX / 2 + sum);
}

static void take_until_empty(struct racer *racer)
{
	pthread_barrier_wait(racer->line);
	while (bucket_withdraw(racer->shared, &shared_rule, 1000, START_OF_TIME) == 1000)
		racer->sum++;
}

Test(bucket_race, threads_spend_each_token_once)
{
	shared_rule = (struct bucket_rule) { .capacity = TOKENS(200000), .start = PPM_WHOLE };
	memset(&bucket, 0, sizeof(bucket));
	cr_expect_eq(race(take_until_empty, &bucket), 200000);
}

#define ROUNDS 5000
static struct bucket fresh[ROUNDS];

static void take_one_of_each(struct racer *racer)
{
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 100 == 0)
			pthread_barrier_wait(racer->line);
		if (bucket_withdraw(&fresh[i], &shared_rule, 1000, START_OF_TIME) == 1000)
			racer->sum++;
		else
			cr_log_error("racer %d saw new bucket %d empty", racer->number, i);
	}
}

Test(bucket_race, threads_that_meet_a_new_bucket_fill_it_once)
{
	shared_rule = (struct bucket_rule) { .capacity = TOKENS(RACERS), .start = PPM_WHOLE };
	memset(fresh, 0, sizeof(fresh));
	cr_expect_eq(race(take_one_of_each, NULL), RACERS * ROUNDS, "nobody is refused");
	for (int i = 0; i < ROUNDS; i++)
		cr_assert_eq(bucket_peek(&fresh[i], &shared_rule), 0, "and it is filled once");
}

static void drink_the_floor(struct racer *racer)
{
	uint64_t random = (uint64_t)racer->number;

	pthread_barrier_wait(racer->line);
	for (int i = 0; i < 50000; i++) {
		/* Each reads the clock, and is then held up for as much as a second. The whole
		 * race lasts 4 s of this clock, however long the scheduler stops a thread. */
		int64_t now =
		    atomic_fetch_add(&shared_clock, 10000) - random_upto(&random, SECONDS(1));
		int64_t taken = bucket_withdraw(racer->shared, &shared_rule, 10, now);

		racer->sum += taken > 0 ? taken : 0;
	}
}

Test(bucket_race, threads_with_late_clocks_are_paid_each_moment_once)
{
	int64_t drunk, elapsed, left;

	shared_rule = (struct bucket_rule) { .capacity = TOKENS(10), .floor = 50000 };
	shared_clock = START_OF_TIME;
	memset(&bucket, 0, sizeof(bucket));
	bucket_start(&bucket, &shared_rule, START_OF_TIME);
	drunk = race(drink_the_floor, &bucket);
	elapsed = shared_clock - START_OF_TIME;
	left = bucket_level(&bucket, &shared_rule, shared_clock);
	cr_expect_leq(drunk + left, elapsed / NS_PER_MS * 50 + 1);
	cr_expect_geq(drunk + left, elapsed / NS_PER_MS * 49, "and hardly any moment is lost");
}
