/* SPDX-License-Identifier: MIT */
/* Strategy `concurrency` against a list of who is in flight: begun, ended, or never heard of again,
 * as when a process is killed. */
#include "budget_fixture.h"
#include "budget/strategy.h"
#include "budget/concurrency.h"

#define FLYING 400

static struct world world;
static const struct account *const account = &world.account;

static struct {
	int64_t began;
	bool retry, gone; /* gone: it will never end */
} flying[FLYING];
static int in_flight;

static void begin(int64_t ratio, int64_t least, int64_t window)
{
	world_start(&world, 1);
	world.policy.strategy = STRATEGY_CONCURRENCY;
	world.policy.ratio = ratio;
	world.policy.min_concurrency = least;
	world.policy.window = window;
	in_flight = 0;
}

static void take_off(bool retry, int64_t now)
{
	flying[in_flight].began = now;
	flying[in_flight].retry = retry;
	flying[in_flight++].gone = false;
}

static void land(int which)
{
	concurrency_end(account, flying[which].retry, flying[which].began);
	flying[which] = flying[--in_flight];
}

static int64_t count_flying(bool retries, int64_t now)
{
	int64_t n = 0;

	for (int i = 0; i < in_flight; i++)
		n += (flying[i].retry || !retries) && flying[i].began > now - world.policy.window;
	return n;
}

static bool first_try(int64_t now)
{
	strategy_concurrency.note(account, NOTE_FIRST_TRY, 0, now);
	take_off(false, now);
	return true;
}

static bool retry(int64_t now)
{
	if (strategy_concurrency.take(account, 1000, now) < 0)
		return false;
	take_off(true, now);
	return true;
}

/* One random event; true if a retry went. */
static bool something(uint64_t *random, int64_t *now)
{
	int64_t which = random_upto(random, 99);

	*now += random_upto(random, SECONDS(0.1));
	if (which < 40 && in_flight < FLYING)
		return retry(*now);
	if (which < 65 && in_flight < FLYING)
		return !first_try(*now);
	if (in_flight == 0)
		return false;
	which = random_upto(random, in_flight - 1);
	if (random_upto(random, 9) == 0) /* killed: out of the list when it is out of the window */
		flying[which].gone = true;
	if (!flying[which].gone)
		land((int)which);
	else if (flying[which].began < *now - 2 * world.policy.window)
		flying[which] = flying[--in_flight];
	return false;
}

Test(concurrency, never_more_in_flight_than_the_rule)
{
	uint64_t random = 1;
	int gone = 0;

	for (int round = 0; round < 60; round++) {
		int64_t now = START_OF_TIME, ratio = random_upto(&random, 4) * 100;
		int64_t least = random_upto(&random, 5);

		begin(ratio, least, SECONDS(1 + round % 20));
		for (int i = 0; i < 3000; i++) {
			int64_t share;

			if (!something(&random, &now))
				continue;
			share = ratio * count_flying(false, now);
			cr_assert_leq(1000 * count_flying(true, now),
			              share > 1000 * least ? share : 1000 * least, "round %d",
			              round);
			gone++;
		}
	}
	cr_expect_gt(gone, 5000);
}

/* Envoy's, and failsafe-go's, numbers: fewer than the whole part of max(20 % of the active, 3). */
Test(concurrency, as_envoy_counts)
{
	for (int64_t active = 0; active < 60; active++) {
		int64_t allowed = active / 5 > 3 ? active / 5 : 3, gone = 0;

		/* There the requests that are retried are among the active already. */
		begin(200, 3, SECONDS(10));
		for (int64_t i = 0; i < active; i++)
			first_try(START_OF_TIME);
		while (gone < active + 1 && in_flight < FLYING) {
			bool went;

			if (active > 0) /* the failed one ends, its retry begins */
				for (int i = 0; i < in_flight; i++)
					if (!flying[i].retry) {
						land(i);
						break;
					}
			went = retry(START_OF_TIME);
			if (!went)
				break;
			gone++;
		}
		cr_expect_eq(gone, active < 3 ? active + 1 < 3 ? active + 1 : 3 : allowed,
		             "%ld active: %ld", (long)active, (long)gone);
	}
}

/* A process is killed with everything in flight: after a window nothing of it is left. */
Test(concurrency, what_never_ends_is_forgotten)
{
	begin(200, 3, SECONDS(10));
	while (retry(START_OF_TIME))
		;
	cr_expect_eq(in_flight, 3);
	cr_expect(!retry(START_OF_TIME + SECONDS(9.9)));
	cr_expect_eq(strategy_concurrency.wait(account, 0, START_OF_TIME) / NS_PER_S, 10);
	cr_expect(retry(START_OF_TIME + SECONDS(11)));
	/* And its end, should it come after all, takes nobody else's place. */
	land(0);
	land(1);
	cr_expect(retry(START_OF_TIME + SECONDS(11)));
	cr_expect(retry(START_OF_TIME + SECONDS(11)));
	cr_expect(!retry(START_OF_TIME + SECONDS(11)));
}

Test(concurrency, waits_are_exact)
{
	uint64_t random = 3;
	int waited = 0;

	for (int round = 0; round < 40; round++) {
		int64_t now = START_OF_TIME;

		begin(random_upto(&random, 3) * 100, random_upto(&random, 4),
		      SECONDS(1 + round % 20));
		for (int i = 0; i < 300; i++) {
			static struct budget kept;
			int64_t until;

			something(&random, &now);
			until = strategy_concurrency.wait(account, 0, now);
			memcpy(&kept, &world.budget, sizeof(kept));
			if (until == INT64_MAX) {
				cr_assert_lt(strategy_concurrency.take(account, 0, now), 0);
			} else {
				cr_assert_gt(strategy_concurrency.take(account, 0, now + until), 0);
				memcpy(&world.budget, &kept, sizeof(kept));
				cr_assert(until == 0 || strategy_concurrency.take(
							    account, 0, now + until - 1) < 0);
				waited += until > 0;
			}
			memcpy(&world.budget, &kept, sizeof(kept));
		}
	}
	cr_expect_gt(waited, 500);
}

Test(concurrency, a_mistaken_retry_stays_in_flight_as_a_first_try)
{
	begin(500, 1, SECONDS(10));
	cr_assert(retry(START_OF_TIME));
	cr_assert(!retry(START_OF_TIME));
	strategy_concurrency.refund(account, 1, true);
	flying[0].retry = false;
	cr_expect(retry(START_OF_TIME), "one in two");
	cr_expect(!retry(START_OF_TIME));
}

Test(concurrency, whoever_ends_makes_room)
{
	begin(0, 2, SECONDS(10));
	for (int i = 0; i < 100; i++) {
		while (in_flight < 2)
			cr_assert(retry(START_OF_TIME + i * NS_PER_MS), "%d", i);
		cr_assert(!retry(START_OF_TIME + i * NS_PER_MS));
		first_try(START_OF_TIME + i * NS_PER_MS);
		land(2);
		cr_assert(!retry(START_OF_TIME + i * NS_PER_MS), "it was none of the two");
		land(i % 2);
	}
}
