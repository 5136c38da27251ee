/* SPDX-License-Identifier: MIT */
/* The composed budget: admissions, probes, streaks, hostile cells. */
#include "budget_fixture.h"
#include "budget/budget_wait.h"

static struct world world;
static const struct account *const account = &world.account;

static int64_t own_level(int64_t now)
{
	return bucket_level(&world.budget.bucket, &world.policy.bucket, now);
}

static int64_t process_level(int64_t now)
{
	return bucket_level(&world.process, &world.process_rule, now);
}

Test(budget, cost_by_class)
{
	struct policy policy = { .cost = 5000, .cost_timeout = 10000 };

	for (int class = FAILURE_NONE; class < FAILURE_COUNT; class ++)
		cr_expect_eq(budget_cost(&policy, class), class == FAILURE_TIMEOUT ? 10000 : 5000);
}

Test(budget, a_retry_is_paid_from_both)
{
	world_fail_first_try(&world);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), ADMITTED);
	cr_expect_eq(own_level(START_OF_TIME), 9000);
	cr_expect_eq(process_level(START_OF_TIME), 99000);
}

Test(budget, a_refused_second_bucket_refunds_the_first)
{
	world_start(&world, 1);
	world.process_rule.start = 0;
	world.process_rule.floor = 0;
	budget_first_try(account, START_OF_TIME);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), REFUSED);
	cr_expect_eq(own_level(START_OF_TIME), 10000);
	cr_expect_eq(process_level(START_OF_TIME), 0);
	cr_expect_eq(budget_token_wait(account, 1000, START_OF_TIME), SECONDS(10),
	             "only the probe is left");
}

Test(budget, an_empty_destination_leaves_the_process_alone)
{
	int64_t wait;

	world_fail_first_try(&world);
	for (int i = 0; i < 10; i++)
		cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), ADMITTED);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), REFUSED);
	cr_expect_eq(process_level(START_OF_TIME), 90000);
	wait = budget_token_wait(account, 1000, START_OF_TIME);
	cr_expect(llabs(wait - SECONDS(5)) <= 5 * NS_PER_MS, "0.2/s pay a token in 5 s, to the mt");
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + wait - 1), REFUSED);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + wait), ADMITTED);
}

Test(budget, the_probe_overrides_both_buckets)
{
	world_fail_first_try(&world);
	world.policy.bucket.floor = world.process_rule.floor = 0;
	world.policy.bucket.start = world.process_rule.start = 0;
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + SECONDS(10) - 1), REFUSED);
	cr_expect_eq(budget_token_wait(account, 1000, START_OF_TIME + SECONDS(4)), SECONDS(6));
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + SECONDS(10)), ADMITTED_PROBE);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + SECONDS(10)), REFUSED,
	             "one in each interval");
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + SECONDS(20)), ADMITTED_PROBE);
	cr_expect_eq(own_level(START_OF_TIME + SECONDS(20)), 0, "a probe costs nothing");
}

/* A crawler's dead hosts have emptied the process's, and a host that is well fails once. */
Test(budget, the_first_repeat_of_a_streak_needs_no_token_of_the_process)
{
	int64_t later = START_OF_TIME + SECONDS(12);

	world_fail_first_try(&world);
	world.process_rule.floor = world.process_rule.start = 0;
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), REFUSED, "nobody may be there");
	world.account.is_met = true;
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), ADMITTED_PROBE);
	cr_expect_eq(own_level(START_OF_TIME), 9000, "the destination pays");
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), REFUSED, "one");
	budget_failure(account, true, START_OF_TIME, START_OF_TIME, &world.random);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), REFUSED, "the second repeat");
	budget_success(account, START_OF_TIME);
	bucket_drain(&world.process, &world.process_rule, 100, START_OF_TIME);
	budget_first_try(account, START_OF_TIME);
	budget_failure(account, false, START_OF_TIME, START_OF_TIME, &world.random);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), REFUSED, "once in `probe`");
	budget_first_try(account, later);
	cr_expect_eq(budget_admit(account, 1000, later), ADMITTED_PROBE);
}

Test(budget, who_has_no_token_of_its_own_keeps_the_leave_of_its_first_repeat)
{
	world_fail_first_try(&world);
	world.process_rule.floor = world.process_rule.start = 0;
	world.policy.bucket.floor = world.policy.bucket.start = 0;
	world.account.is_met = true;
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), REFUSED);
	bucket_deposit(&account->budget->bucket, &world.policy.bucket, 1000);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME), ADMITTED_PROBE);
}

Test(budget, whatever_was_admitted_puts_the_probe_off)
{
	world_fail_first_try(&world);
	world.policy.bucket.floor = world.policy.bucket.start = 0;
	bucket_deposit(&world.budget.bucket, &world.policy.bucket, 1000);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + SECONDS(8)), ADMITTED);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + SECONDS(17)), REFUSED);
	budget_first_try(account, START_OF_TIME + SECONDS(17));
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + SECONDS(26)), REFUSED);
	cr_expect_eq(budget_admit(account, 1000, START_OF_TIME + SECONDS(27)), ADMITTED_PROBE);
}

Test(budget, the_streak_grows_by_retries_and_ends_once)
{
	world_fail_first_try(&world);
	for (int i = 0; i < 50; i++)
		cr_expect_eq(
		    budget_failure(account, false, START_OF_TIME, START_OF_TIME, &world.random), 1,
		    "50 parallel first tries are one failure of the destination");
	cr_expect_eq(budget_failure(account, true, START_OF_TIME, START_OF_TIME, &world.random), 2);
	cr_expect_eq(
	    budget_failure(account, true, START_OF_TIME + 5, START_OF_TIME + 5, &world.random), 3);
	cr_expect_eq(
	    budget_failure(account, false, START_OF_TIME + 9, START_OF_TIME + 9, &world.random), 3);
	cr_expect_eq(world.budget.failed_at, START_OF_TIME + 9);
	cr_expect_eq(budget_success(account, START_OF_TIME), 3);
	cr_expect_eq(budget_success(account, START_OF_TIME), 0);
	cr_expect_eq(world.budget.due_at, 0);
	cr_expect_eq(world.budget.last_delay, 0);
	cr_expect_eq(budget_failure(account, true, START_OF_TIME, START_OF_TIME, &world.random), 1,
	             "a late failure of a retry starts anew");
}

Test(budget, a_success_earns_in_both)
{
	world_fail_first_try(&world);
	world.policy.bucket.start = world.process_rule.start = 0;
	cr_expect(budget_wants_success(account));
	budget_success(account, START_OF_TIME);
	cr_expect_eq(own_level(START_OF_TIME), 100);
	cr_expect_eq(process_level(START_OF_TIME), 100);
	for (int i = 0; i < 999; i++)
		budget_success(account, START_OF_TIME);
	cr_expect_eq(own_level(START_OF_TIME), 10000);
	cr_expect(budget_wants_success(account), "a failure is recent: answers are counted");
	budget_success(account, START_OF_TIME + SECONDS(11));
	cr_expect_not(budget_wants_success(account), "full and quiet: nothing to write");
	budget_failure(account, false, START_OF_TIME, START_OF_TIME, &world.random);
	cr_expect(budget_wants_success(account));
}

Test(budget, wild_times_heal_within_one_probe)
{
	static const int64_t wild[] = { INT64_MAX, INT64_MIN, -1, START_OF_TIME + SECONDS(1000) };

	for (int i = 0; i < 4; i++) {
		int64_t now = START_OF_TIME, wait;

		world_fail_first_try(&world);
		world.policy.bucket.start = world.policy.bucket.floor = 0;
		world.budget.admitted_at = wild[i];
		world.budget.due_at = wild[i];
		wait = budget_due(account, 1000, now);
		cr_expect_leq(wait, SECONDS(10));
		cr_expect_eq(budget_due(account, 1000, now + wait), 0);
		cr_expect_eq(budget_admit(account, 1000, now + wait), ADMITTED_PROBE);
	}
}

Test(budget, hostile_cells_stay_in_range)
{
	uint64_t random = 11;

	world_start(&world, 1);
	for (int i = 0; i < 200000; i++) {
		cell64 *cells = (cell64 *)&world.budget;
		int64_t now = (int64_t)random_next(&random) >> random % 63;

		for (unsigned c = 0; c < sizeof(world.budget) / sizeof(cell64); c++)
			cells[c] = (int64_t)random_next(&random) >> random % 63;
		world.process.holding = (int64_t)random_next(&random);
		cr_assert_geq(budget_token_wait(account, 1000, now), 0);
		cr_assert(budget_token_wait(account, 1000, now) <= world.policy.probe);
		cells[i % 7] = (int64_t)random_next(&random);
		cr_assert_geq(budget_due(account, 1000, now), 0);
		cr_assert(budget_due(account, 1000, now) <= world.policy.probe);
		budget_admit(account, (int64_t)random_next(&random), now);
		cells[i % 7] = (int64_t)random_next(&random) >> random % 63;
		cr_assert_geq(budget_failure(account, i % 2, now, now, &random), 1);
		cells[i % 7] = (int64_t)random_next(&random);
		cr_assert_geq(budget_success(account, now), 0);
		cr_assert_eq(world.budget.streak, 0);
	}
}

/* Of sixty at once three are given up last; twelve seconds later the next sixty come. */
static void fail_last(int times, int64_t now)
{
	world_start(&world, 1);
	for (int i = 0; i < 60; i++)
		budget_first_try(account, now);
	budget_answered_before(account, 57, now);
	for (int i = 0; i < times; i++)
		budget_failure(account, false, now, now, &world.random);
}

Test(budget, what_failed_last_says_little_of_one_that_answered)
{
	int64_t now = START_OF_TIME;

	for (int failed = 1; failed <= ALLOWANCE_FEW; failed++) {
		fail_last(failed, now);
		cr_expect_not(budget_is_quiet(account, now + SECONDS(9)));
		cr_expect(budget_is_quiet(account, now + SECONDS(11)), "%d", failed);
	}
	fail_last(ALLOWANCE_FEW + 1, now);
	cr_expect_not(budget_is_quiet(account, now + SECONDS(12)), "it is away");
	world_start(&world, 1);
	for (int i = 0; i < 8; i++)
		budget_first_try(account, now);
	budget_answered_before(account, 0, now);
	budget_failure(account, false, now, now, &world.random);
	cr_expect_not(budget_is_quiet(account, now + SECONDS(12)), "it never answered");
}

/* Hundreds that a failure threw out wait for their turn, or for the time that the server said. */
Test(budget, who_was_refused_finds_no_quiet)
{
	int64_t now = START_OF_TIME;

	fail_last(2, now);
	cr_assert_eq(budget_admit(account, 1000, now + SECONDS(1)), ADMITTED);
	budget_failure(account, true, now + SECONDS(1), now + SECONDS(1), &world.random);
	cr_assert_eq(budget_verdict(account, 1000, now + SECONDS(1)), REFUSED);
	cr_expect_not(budget_is_quiet(account, now + SECONDS(15)));
	fail_last(2, now);
	world.policy.retry_after_cap = SECONDS(300);
	budget_retry_after(account, SECONDS(120), now);
	cr_expect_not(budget_is_quiet(account, now + SECONDS(15)));
	cr_expect(budget_is_quiet(account, now + SECONDS(200)));
}
