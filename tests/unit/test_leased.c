/* SPDX-License-Identifier: MIT */
/* Retries that draw on a lease of the fleet: what goes with one. */
#include "leased_fixture.h"
#include "budget/budget_wait.h"

Test(leased, what_goes_is_the_lease_and_no_more)
{
	fleet_start(1, 1000, 1000);
	fail_first_try();
	lend((struct lease_grant) { .tokens = 3000, .until = boot() + SECONDS(60) });
	cr_expect_eq(loop(SECONDS(60)), 3);
	lend((struct lease_grant) { .tokens = 2000, .until = boot() + SECONDS(60) });
	cr_expect_eq(loop(SECONDS(60)), 2);
}

Test(leased, a_lease_of_nothing_lets_nothing_go)
{
	/* A reserve that would pay at once. */
	fleet_start(1, TOKENS(1000), 1);
	world.policy.probe = NS_PER_S;
	fail_first_try();
	lend((struct lease_grant) { .until = boot() + SECONDS(60) });
	cr_expect_eq(loop(SECONDS(60)), 0);
	cr_expect_gt(loop(SECONDS(1)), 0, "it has run out");
}

Test(leased, the_gate_is_kept)
{
	fleet_start(1, 0, 1000);
	fail_first_try();
	lend((struct lease_grant) { .tokens = TOKENS(1000) });
	cr_expect_lt(loop(SECONDS(14)), 20);
}

Test(leased, the_process_wide_bucket_is_drawn_on_as_ever)
{
	fleet_start(1, 0, 1000);
	world.process_rule.start = world.process_rule.floor = 0;
	fail_first_try();
	lend((struct lease_grant) { .tokens = TOKENS(9) });
	cr_expect_eq(loop(SECONDS(14)), 0);
	cr_expect_eq(lease_spent(&world.budget.lease), 0, "what it refused is given back");
}

Test(leased, a_retry_takes_one_token_whatever_it_costs)
{
	fleet_start(1, 0, 1000);
	world.policy.cost = 0;
	fail_first_try();
	lend((struct lease_grant) { .tokens = 2000 });
	cr_expect_eq(loop(SECONDS(14)), 2);
	fleet_start(1, 0, 1000);
	world.policy.cost = 5000;
	fail_first_try();
	lend((struct lease_grant) { .tokens = 2000 });
	cr_expect_eq(loop(SECONDS(14)), 2);
}

Test(leased, a_probe_goes_without_a_token_behind_the_gate)
{
	int64_t due;

	fleet_start(1, 0, 1000);
	fail_first_try();
	cr_expect(budget_failure(account, true, now, now, &world.random) == 2);
	lend((struct lease_grant) { .probes = 1 });
	due = budget_due(account, 1000, now);
	cr_expect(due > 0 && due < SECONDS(0.2), "%ld", (long)due);
	cr_expect_not(goes());
	now += due;
	cr_expect_eq(budget_verdict(account, 1000, now), ADMITTED_PROBE);
	cr_expect_eq(loop(SECONDS(14)), 0, "one");
	cr_expect_eq(lease_probed(&world.budget.lease), 1);
}

Test(leased, a_probe_opens_a_gate_that_nothing_went_through_for_long)
{
	fleet_start(1, 0, 1000);
	world.policy.backoff.base = world.policy.backoff.cap = 600 * NS_PER_S;
	fail_first_try();
	cr_expect(budget_failure(account, true, now, now, &world.random) == 2);
	now += SECONDS(10) - 1;
	lend((struct lease_grant) { .probes = 1 });
	cr_expect_not(goes());
	now++;
	cr_expect(goes());
}

Test(leased, one_that_is_barred_gets_the_probe_alone)
{
	fleet_start(1, TOKENS(1000), 1);
	world.policy.max_attempts = 1;
	fail_first_try();
	lend((struct lease_grant) { .tokens = 5000, .probes = 1 });
	cr_expect_eq(loop(SECONDS(14)), 1);
	cr_expect_eq(lease_spent(&world.budget.lease), 0);
}

Test(leased, clocks_that_stand_still_or_go_back_let_nothing_more_go)
{
	int went = 0;

	fleet_start(1, TOKENS(1), 100);
	fail_first_try();
	for (int i = 0; i < 1000; i++) {
		now -= SECONDS(i % 3);
		went += goes();
	}
	cr_expect_leq(went, 2);
	/* A suspend: the lease has run out meanwhile, by the clock that went on. */
	fleet_start(1, TOKENS(1), 100);
	fail_first_try();
	lend((struct lease_grant) { .tokens = 9000, .until = boot() + SECONDS(10) });
	world.account.slept += SECONDS(3600);
	cr_expect_leq(loop(SECONDS(5)), 1);
	cr_expect_eq(lease_spent(&world.budget.lease), 0);
}

Test(leased, who_comes_rarely_draws_on_the_lease_too)
{
	int went = 0;

	fleet_start(1, 0, 1000);
	world.policy.probe = 3600 * NS_PER_S;
	fail_first_try();
	for (int i = 0; i < 20; i++) {
		now += SECONDS(6);
		lend((struct lease_grant) { .tokens = i == 10 ? 1000 : 0 });
		if (goes()) {
			went++;
			budget_failure(account, true, now, now, &world.random);
		}
	}
	cr_expect_eq(went, 1);
}

Test(leased, what_is_unclear_has_no_start_of_its_own)
{
	fleet_start(1, 0, 1000);
	fail_first_try();
	cr_expect_not(budget_unclear(account, WORKLOAD_UNKNOWN, now));
	world.policy.leased = 0;
	cr_expect(budget_unclear(account, WORKLOAD_UNKNOWN, now));
	world.policy.leased = 1;
	budget_success(account, now);
	budget_failure(account, false, now, now, &world.random);
	cr_expect(budget_unclear(account, WORKLOAD_UNKNOWN, now),
	          "but what is answered is not bounded");
}

Test(leased, successes_of_a_leased_policy_change_nothing)
{
	fleet_start(1, 0, 1000);
	for (int i = 0; i < STRATEGY_COUNT; i++) {
		world.policy.strategy = i;
		cr_expect_not(budget_counts_success(account));
	}
}
