/* SPDX-License-Identifier: MIT */
/* Retries that would draw on a lease of the fleet: what goes without one, of the reserve. */
#include "leased_fixture.h"

/* A lease that has run out is still there, and counts what was spent of it. */
static void let_a_lease_run_out(void)
{
	fleet_start(1, TOKENS(1000), 1);
	world.policy.probe = NS_PER_S;
	fail_first_try();
	lend((struct lease_grant) { .tokens = 3000 });
	cr_assert_geq(loop(SECONDS(14)), 3);
	cr_assert_eq(lease_spent(&world.budget.lease), 3000);
	now += SECONDS(2);
	cr_assert_eq(budget_source(account, now), SOURCE_RESERVE);
}

Test(leased_reserve, what_the_reserve_would_have_paid_no_lease_gets)
{
	let_a_lease_run_out();
	world.process_rule.floor = 0;
	bucket_drain(&world.process, &world.process_rule, TOKENS(1000), now);
	loop(SECONDS(10));
	cr_expect_eq(lease_spent(&world.budget.lease), 3000);
}

Test(leased_reserve, what_the_reserve_has_paid_no_lease_gets_back)
{
	int64_t tokens;

	let_a_lease_run_out();
	for (int i = 0; i < 1000 && budget_verdict(account, 1000, now) != ADMITTED; i++)
		now += STEP;
	tokens = bucket_peek(&world.process, &world.process_rule);
	budget_refund(account, 1000, SOURCE_RESERVE);
	cr_expect_eq(lease_spent(&world.budget.lease), 3000);
	cr_expect_eq(bucket_peek(&world.process, &world.process_rule), tokens + 1000);
	budget_refund(account, 1000, SOURCE_LEASE);
	cr_expect_eq(lease_spent(&world.budget.lease), 2000, "what a lease has paid it gets");
}

/* Hosts that lose their lease at one moment, all with a streak of the same time: their attempts
 * keep within the reserve and the probe, and do not come at one moment. */
Test(leased_reserve, without_a_lease_all_hosts_keep_within_the_reserve)
{
	enum { HOSTS = 200, MINUTES = 20 };
	static int in_second[MINUTES * 60];
	int went = 0, worst = 0, silent = 0;

	for (int host = 0; host < HOSTS; host++) {
		int mine = 0;

		fleet_start((uint64_t)host + 1, TOKENS(1), HOSTS);
		fail_first_try();
		for (int64_t at = 0; at < SECONDS(MINUTES * 60);
		     at += SECONDS(0.5), now += SECONDS(0.5)) {
			if (!goes())
				continue;
			mine++;
			in_second[at / NS_PER_S]++;
			budget_failure(account, true, now, now, &world.random);
		}
		went += mine;
		silent += mine == 0;
	}
	for (int i = 0; i < MINUTES * 60; i++)
		worst = in_second[i] > worst ? in_second[i] : worst;
	/* A token a second, and a probe in ten. */
	cr_expect(went > MINUTES * 60 * 0.9 && went < MINUTES * 60 * 1.15, "%d went", went);
	cr_expect_leq(worst, 9, "%d in one second", worst);
	cr_expect_eq(silent, 0, "%d hosts were shut out", silent);
}

/* Nor do they where the streak has lasted for periods by then: each would have one due. */
Test(leased_reserve, a_lease_that_ends_late_in_a_streak_leaves_nothing_due)
{
	enum { HOSTS = 200, MINUTES = 20 };
	static const int every[] = {
		1, 60
	}; /* seconds: how often a program looks while it has a lease */

	for (size_t i = 0; i < sizeof(every) / sizeof(*every); i++) {
		int in_second[MINUTES * 60] = { 0 }, went = 0, worst = 0;

		for (int host = 0; host < HOSTS; host++) {
			fleet_start((uint64_t)host + 1, TOKENS(1), HOSTS);
			fail_first_try();
			for (int64_t end = now + SECONDS(900); now < end;
			     now += SECONDS(every[i])) {
				lend((struct lease_grant) { .until = boot() + SECONDS(61) });
				cr_assert_not(goes());
			}
			lend((struct lease_grant) { .until = boot() });
			for (int64_t at = 0; at < SECONDS(MINUTES * 60);
			     at += SECONDS(0.5), now += SECONDS(0.5)) {
				if (!goes())
					continue;
				in_second[at / NS_PER_S]++;
				went++;
				budget_failure(account, true, now, now, &world.random);
			}
		}
		for (int s = 0; s < MINUTES * 60; s++)
			worst = in_second[s] > worst ? in_second[s] : worst;
		cr_expect_leq(worst, 9, "%d in one second", worst);
		cr_expect(went > MINUTES * 60 * 0.9 && went < MINUTES * 60 * 1.15, "%d went", went);
	}
}

Test(leased_reserve, in_any_window_a_host_has_one_more_than_its_part_at_most)
{
	int64_t last = 0, period = SECONDS(100); /* 1/s of 100 */

	fleet_start(3, TOKENS(1), 100);
	world.policy.backoff = (struct backoff_rule) { .factor = 1000, .cap = NS_PER_MS };
	world.policy.probe = 3600 * NS_PER_S;
	fail_first_try();
	for (int i = 0; i < 40000; i++, now += SECONDS(0.1)) {
		if (!goes())
			continue;
		if (last)
			cr_assert_geq(now - last, period - SECONDS(0.1));
		last = now;
		budget_failure(account, true, now, now, &world.random);
	}
	cr_assert_gt(last, 0);
	/* Nothing is saved up by who is away. */
	now += 20 * period;
	cr_expect_leq(loop(SECONDS(50)), 2);
}

Test(leased_reserve, each_streak_begins_its_periods_anew)
{
	int64_t period = SECONDS(10);
	int due = 0;

	for (int i = 0; i < 20; i++) {
		fleet_start((uint64_t)i + 1, TOKENS(1), 10);
		world.policy.probe = 3600 * NS_PER_S;
		world.policy.backoff = (struct backoff_rule) { .factor = 1000, .cap = NS_PER_MS };
		fail_first_try();
		(void)loop(6 * period);
		budget_success(account, now);
		now += SECONDS(100);
		fail_first_try();
		/* It asks for the first time when at least two periods of it are over. */
		now += 2 * period + period / 2;
		due += goes();
	}
	cr_expect_eq(due, 20, "%d of 20", due);
}

Test(leased_reserve, an_answer_a_while_ago_opens_nothing)
{
	for (int leased = 1; leased >= 0; leased--) {
		fleet_start(1, 0, 1000);
		world.policy.leased = leased;
		world.policy.bucket.start = world.policy.bucket.floor = 0;
		world.policy.bucket.earn = 0;
		fail_first_try();
		budget_success(account, now);
		fail_first_try();
		for (int i = 0; i < 8; i++)
			budget_failure(account, true, now, now, &world.random);
		now += SECONDS(3);
		cr_expect_eq(goes(), !leased);
		if (!leased)
			continue;
		lend((struct lease_grant) { .tokens = 2000 });
		cr_expect(goes());
		cr_expect_eq(lease_spent(&world.budget.lease), 1000, "nor is it free");
	}
}

Test(leased_reserve, members_of_a_host_share_its_part)
{
	int alone, shared;

	fleet_start(5, TOKENS(10), 10);
	world.policy.backoff = (struct backoff_rule) { .factor = 1000, .cap = NS_PER_MS };
	world.policy.probe = 3600 * NS_PER_S;
	fail_first_try();
	alone = loop(SECONDS(400));
	lend((struct lease_grant) { .members = 4, .until = boot() + 1 });
	now++;
	shared = loop(SECONDS(400));
	cr_expect(alone > 30 && shared > 0 && shared * 3 < alone, "%d alone, %d shared", alone,
	          shared);
}

/* Any daemon, and none: an attempt comes within the period of the probe. */
Test(leased_reserve, never_without_any_probe)
{
	static const int64_t garbage[] = { INT64_MIN,     -1,           1, 1000, INT64_MAX,
		                           START_OF_TIME, INT64_MAX / 2 };

	for (size_t i = 0; i < sizeof(garbage) / sizeof(*garbage); i++) {
		for (size_t word = 0; word < sizeof(struct lease) / 8; word++) {
			int64_t end;

			fleet_start(7, 0, 20);
			fail_first_try();
			lend((struct lease_grant) { .tokens = 1000, .until = boot() + 1 });
			now++;
			STORE(((cell64 *)&world.budget.lease)[word], garbage[i]);
			STORE(world.budget.began_at, garbage[i] ^ (int64_t)word);
			for (end = now + 3 * 20 * world.policy.probe; now < end && !goes();)
				now += SECONDS(0.5);
			cr_assert_lt(now, end, "word %zu, garbage %zu", word, i);
		}
	}
}
