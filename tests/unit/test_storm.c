/* SPDX-License-Identifier: MIT */
/* When a destination is refused so often that somebody spins. */
#include "dest/demand.h"
#include "pace/refuse.h"
#include "pace/storm.h"
#include "sys/second_count.h"
#include "track_fixture.h"

#include <sys/wait.h>
#include <unistd.h>

TestSuite(storm, .init = start_shim);

static int calm_refusals(struct destination *destination, int64_t now)
{
	int calm = 0;

	while (!storm_rages(destination, now) && calm < 100)
		calm++;
	return calm;
}

Test(storm, rages_from_the_twenty_first_refusal_of_a_second)
{
	struct destination destination = { 0 };

	cr_expect_eq(calm_refusals(&destination, 500 * NS_PER_S), 20);
}

Test(storm, that_was_parked_comes_back_sooner)
{
	struct destination destination = { 0 };

	calm_refusals(&destination, 500 * NS_PER_S);
	cr_expect_eq(calm_refusals(&destination, 501 * NS_PER_S), 5);
	cr_expect_eq(calm_refusals(&destination, 520 * NS_PER_S), 20, "and is forgotten");
}

static int parked(struct destination *destination, int64_t now)
{
	int parked = 0;

	while (parked < 100 && storm_parks(destination, now))
		parked++;
	return parked;
}

Test(storm, parks_few_at_a_time_but_at_a_black_hole)
{
	struct destination destination = { .last_failure = FAILURE_TIMEOUT }; /* a reply's */

	cr_expect_eq(parked(&destination, 500 * NS_PER_S), 8);
	destination.last_unmet = 1;
	cr_expect_eq(parked(&destination, 500 * NS_PER_S), 100);
	destination.last_failure = FAILURE_REFUSED;
	cr_expect_eq(parked(&destination, 502 * NS_PER_S), 8);
}

Test(storm, is_not_what_asks_five_times_a_second)
{
	struct destination destination = { 0 };

	for (int64_t second = 500; second < 560; second++)
		for (int i = 0; i < 5; i++)
			cr_assert_not(storm_rages(&destination, second * NS_PER_S));
}

/* The destination's count is of all workers; what they are asked to do each knows of itself. */
Test(storm, is_not_what_comes_of_demand)
{
	struct destination destination = { 0 };

	for (int64_t second = 500; second < 560; second++)
		for (int i = 0; i < 6; i++) {
			demand_note_refusal(second * NS_PER_S);
			demand_count_served(second * NS_PER_S);
			for (int tries = 0; tries < 10; tries++)
				cr_assert_not(storm_rages(&destination, second * NS_PER_S));
		}
	cr_expect_leq(calm_refusals(&destination, 559 * NS_PER_S), 20, "no more than that");
}

/* A worker of a pool that begins anew has done nothing yet, whatever the pool is refused. */
Test(storm, is_not_a_worker_that_has_just_begun_in_a_pool_that_works)
{
	struct destination destination = { 0 };
	int64_t now = 500 * NS_PER_S;

	destination.refused_now = second_count(500, 90);
	shim_region->served[500 & 1] = second_count(500, 30);
	cr_expect_eq(calm_refusals(&destination, now), 20, "it may be refused as one alone is");
	cr_expect_eq(count_of(destination.refused_now), 111, "all are counted");
}

/* Of six workers that take turns three may have all jobs for the dead. */
Test(storm, is_not_in_a_pool_where_those_who_work_are_refused_nothing)
{
	struct destination destination = { 0 };
	int64_t now = 500 * NS_PER_S;
	int status;

	for (int part = 0; part < 2; part++) {
		pid_t worker = fork();

		if (worker == 0) {
			if (part == 0)
				storm_rages(&destination, now);
			for (int i = 0; part == 1 && i < 30; i++)
				demand_count_served(now);
			_exit(0);
		}
		cr_assert(worker > 0 && waitpid(worker, &status, 0) == worker);
	}
	cr_expect_eq(demand_served(now), 0);
	cr_expect_eq(demand_most_of(shim_region->served, now), 30);
	destination.refused_now = second_count(500, 90);
	cr_expect_not(storm_rages(&destination, now));
	demand_count_served(now + 20 * NS_PER_S);
	cr_expect_eq(demand_most_of(shim_region->served, now + 20 * NS_PER_S), 0, "all is well");
}

Test(storm, is_a_worker_that_has_just_begun_where_nobody_works)
{
	struct destination destination = { 0 };
	int64_t now = 500 * NS_PER_S;

	destination.refused_now = second_count(500, 90);
	cr_expect_eq(calm_refusals(&destination, now), 0);
	shim_region->served[498 & 1] = second_count(498, 30);
	cr_expect_eq(calm_refusals(&destination, now), 0, "what was done long ago does not count");
	shim_region->served[500 & 1] = second_count(500, 1);
	destination.refused_now = second_count(500, 90);
	cr_expect_eq(calm_refusals(&destination, now), 0, "nor do a few");
}

Test(storm, of_any_bits_ends)
{
	struct destination destination = { 0 };
	uint64_t random = 9;

	for (int i = 0; i < 10000; i++) {
		destination.refused_now = (int64_t)random_next(&random);
		shim_region->served[i & 1] = (int64_t)random_next(&random);
		storm_rages(&destination, 500 * NS_PER_S);
		cr_assert_leq(calm_refusals(&destination, 600 * NS_PER_S), 20);
	}
}
