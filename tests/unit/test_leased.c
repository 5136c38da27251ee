/* SPDX-License-Identifier: MIT */
/* Retries that draw on a lease of the fleet: what goes with one, without one, and by its news. */
#include "budget_fixture.h"
#include "budget/streak.h"
#include "region/lease.h"

#define LABEL "orders-db"
#define SLEPT SECONDS(5)
#define STEP  (20 * NS_PER_MS)

static struct world world;
static const struct account *const account = &world.account;
static int64_t now;

static int64_t boot(void)
{
	return now + SLEPT;
}

static void fleet_start(uint64_t seed, int64_t reserve, int64_t n_max)
{
	world_start(&world, seed);
	world.policy.fleet = world.policy.leased = 1;
	world.policy.fleet_reserve = reserve;
	world.policy.fleet_n_max = n_max;
	world.policy.label = lease_label(LABEL);
	world.account.slept = SLEPT;
	now = START_OF_TIME + (int64_t)seed * 7919;
}

static void lend(struct lease_grant grant)
{
	struct lease words;

	if (!grant.until)
		grant.until = boot() + SECONDS(15);
	lease_compose(&words, &world.budget.lease, LABEL, &grant);
	memcpy(&world.budget.lease, &words, LEASE_BYTES);
}

static void fail_first_try(void)
{
	budget_first_try(account, now);
	budget_failure(account, false, now, now, &world.random);
}

static bool goes(void)
{
	return budget_verdict(account, account->policy->cost, now) != REFUSED;
}

/* Attempts of a loop against a dead server. */
static int loop(int64_t time)
{
	int went = 0;

	for (int64_t end = now + time; now < end; now += STEP) {
		if (!goes())
			continue;
		went++;
		budget_failure(account, true, now, now, &world.random);
	}
	return went;
}

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

/* Hosts that lose their lease at one moment, all with a streak of the same time: their attempts
 * keep within the reserve and the probe, and do not come at one moment. */
Test(leased, without_a_lease_all_hosts_keep_within_the_reserve)
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

Test(leased, in_any_window_a_host_has_one_more_than_its_part_at_most)
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

Test(leased, each_streak_begins_its_periods_anew)
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

Test(leased, an_answer_a_while_ago_opens_nothing)
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

Test(leased, members_of_a_host_share_its_part)
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
Test(leased, never_without_any_probe)
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
	cr_expect_not(budget_unclear(account, false, now));
	world.policy.leased = 0;
	cr_expect(budget_unclear(account, false, now));
	world.policy.leased = 1;
	budget_success(account, now);
	budget_failure(account, false, now, now, &world.random);
	cr_expect(budget_unclear(account, false, now), "but what is answered is not bounded");
}

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

Test(leased, news_opens_the_gate_for_what_the_lease_pays)
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

Test(leased, news_opens_it_by_the_ramp)
{
	int went = 0;

	wait_in_backoff();
	lend((struct lease_grant) { .tokens = TOKENS(1000), .news_at = boot() });
	for (int i = 0; i < 100; i++, now += NS_PER_MS)
		went += goes();
	cr_expect_eq(went, RAMP_FIRST, "%d in the first tenth of a second", went);
}

Test(leased, without_tokens_news_opens_nothing)
{
	wait_in_backoff();
	lend((struct lease_grant) { .news_at = boot() });
	cr_expect_eq(loop(SECONDS(10)), 0);
}

Test(leased, news_from_before_the_last_attempt_are_none)
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

Test(leased, news_of_a_lease_that_ran_out_are_none)
{
	wait_in_backoff();
	lend((struct lease_grant) {
	    .tokens = 5000, .news_at = boot(), .until = boot() + SECONDS(1) });
	now += SECONDS(1);
	cr_expect_eq(loop(SECONDS(10)), 0);
}

Test(leased, successes_of_a_leased_policy_change_nothing)
{
	fleet_start(1, 0, 1000);
	for (int i = 0; i < STRATEGY_COUNT; i++) {
		world.policy.strategy = i;
		cr_expect_not(budget_counts_success(account));
	}
}
