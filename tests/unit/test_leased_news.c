/* SPDX-License-Identifier: MIT */
/* What news of an answer elsewhere in the fleet opens, and for whom. */
#include "leased_fixture.h"
#include "budget/budget_wait.h"

/* It is in a long backoff when the server comes back elsewhere. */
static void wait_in_backoff(void)
{
	fleet_start(1, 0, 1000);
	world.policy.backoff.cap = world.policy.backoff.base = 300 * NS_PER_S;
	fail_first_try();
	for (int i = 0; i < 3; i++) {
		budget_failure(account, true, now, now, &world.random);
		now += SECONDS(2);
	}
	cr_expect_not(goes());
	cr_expect_gt(budget_due(account, 1000, now), SECONDS(60));
}

Test(leased_news, news_opens_the_gate_for_what_the_lease_pays)
{
	wait_in_backoff();
	lend((struct lease_grant) { .tokens = 5000 });
	cr_expect_not(goes(), "the gate stands");
	now += SECONDS(1);
	lend((struct lease_grant) { .tokens = 5000, .news_at = boot() - SECONDS(0.5) });
	cr_expect(goes());
	cr_expect_eq(lease_spent(&world.budget.lease), 1000);
	budget_success(account, now);
	now += SECONDS(0.2);
	cr_expect(goes(), "and then the ramp");
	cr_expect_eq(lease_spent(&world.budget.lease), 1000, "which asks for no token");
}

Test(leased_news, news_opens_it_by_the_ramp)
{
	int went = 0;

	wait_in_backoff();
	lend((struct lease_grant) { .tokens = TOKENS(1000), .news_at = boot() });
	for (int i = 0; i < 100; i++, now += NS_PER_MS)
		went += goes();
	cr_expect_eq(went, RAMP_FIRST, "%d in the first tenth of a second", went);
}

Test(leased_news, without_tokens_news_opens_nothing)
{
	wait_in_backoff();
	lend((struct lease_grant) { .news_at = boot() });
	cr_expect_eq(loop(SECONDS(10)), 0);
}

Test(leased_news, news_from_before_the_last_attempt_are_none)
{
	wait_in_backoff();
	/* As a refusal does. */
	world.budget.failed_at = now;
	lend((struct lease_grant) { .tokens = TOKENS(1000), .news_at = boot() - SECONDS(6) });
	cr_expect_not(goes());
	lend((struct lease_grant) { .tokens = TOKENS(1000), .news_at = boot() - SECONDS(6) + 1 });
	cr_expect(goes());
	cr_expect_eq(loop(SECONDS(10)), 0, "it has been tried since");
}

Test(leased_news, news_of_a_lease_that_ran_out_are_none)
{
	wait_in_backoff();
	lend((struct lease_grant) {
	    .tokens = 5000, .news_at = boot(), .until = boot() + SECONDS(1) });
	now += SECONDS(1);
	cr_expect_eq(loop(SECONDS(10)), 0);
}
