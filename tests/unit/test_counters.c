/* SPDX-License-Identifier: MIT */
/* What is counted for a destination is counted for all together, in its own place. */
#include "region/counters.h"

#include <criterion/criterion.h>
#include <string.h>

static struct region region;

Test(counters, a_wait_has_its_place)
{
	cr_expect_eq(time_place(1), 0);
	cr_expect_eq(time_place(NS_PER_MS - 1), 0);
	cr_expect_eq(time_place(NS_PER_MS), 1);
	cr_expect_eq(time_place(2 * NS_PER_MS), 2);
	cr_expect_eq(time_place(1000 * NS_PER_MS), 10);
	cr_expect_eq(time_place(INT64_MAX), REGION_TIMES - 1);
}

Test(counters, each_counts_twice_and_nothing_else)
{
	struct destination *of = &region.first.destinations[3];

	count_answered(&region.tally, of, true);
	count_failed(&region.tally, of, false);
	count_refused(&region.tally, of, true, true, true);
	count_refused(&region.tally, of, false, true, false); /* observe: it goes */
	count_breaker(&region.tally, of, BREAKER_HALF_OPENED);
	count_breaker(&region.tally, of, BREAKER_AS_IT_WAS);
	count_wait(&region.tally, of, 3 * NS_PER_MS);
	count_wait(&region.tally, of, 0);
	count_delay(&region.tally, of, 0);
	count_delay(&region.tally, of, -1);
	count_recovery(&region.tally, of, 3600 * NS_PER_S);
	count_recovery(&region.tally, of, INT64_MIN);
	count_status(&region.tally, of, 503);
	count_status(&region.tally, of, 418);
	count_status(&region.tally, of, 0);
	cr_expect_eq(of->tally.answered[1], 1);
	cr_expect_eq(of->tally.answered[0], 0);
	cr_expect_eq(of->tally.failed[0], 1);
	cr_expect_eq(of->tally.avoided, 1);
	cr_expect_eq(of->tally.parked, 1);
	cr_expect_eq(of->tally.exhausted, 1);
	cr_expect_eq(of->tally.breaker[1], 1);
	cr_expect_eq(of->tally.breaker[0] + of->tally.breaker[2], 0);
	cr_expect_eq(of->tally.waits.counts[2], 1);
	cr_expect_eq(of->tally.waits.sum, 3 * NS_PER_MS);
	cr_expect_eq(of->tally.delays.counts[0], 1);
	cr_expect_eq(of->tally.recoveries.counts[REGION_TIMES - 1], 1);
	cr_expect_eq(of->tally.statuses[STATUS_503], 1);
	cr_expect_eq(of->tally.statuses[STATUS_OTHER], 1);
	cr_expect_eq(of->tally.statuses[STATUS_429], 0);
	cr_expect_eq(memcmp(&of->tally, &region.tally, sizeof(of->tally)), 0);
}
