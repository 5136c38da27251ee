/* SPDX-License-Identifier: MIT */
/* Whole programs in virtual time: what retry loops come to when everything, or a part, fails. */
#include "budget_fixture.h"
#include "budget/streak.h"

static struct world world;
static const struct account *const account = &world.account;

/* Attempts that a program makes on a dead destination, 0..until, if it calls a blocking connect
 * again as soon as it fails. The body is what the shim does for each call of a thread that spins.
 */
static void loop_on_outage(struct world *loop, const int64_t *until, int *attempts, int periods)
{
	const struct account *mine = &loop->account;
	int64_t now = START_OF_TIME, cost = budget_cost(&loop->policy, FAILURE_REFUSED);
	int period = 0;

	attempts[0] = 1;
	budget_first_try(mine, now);
	budget_failure(mine, false, now, now, &loop->random);
	for (;;) {
		now += 20000; /* the program's own turn of the loop */
		if (budget_verdict(mine, cost, now) == REFUSED) {
			now += loop->policy.hold;
			if (budget_verdict(mine, cost, now) == REFUSED)
				continue;
		}
		while (now - START_OF_TIME >= until[period])
			if (++period == periods)
				return;
		attempts[period]++;
		budget_failure(mine, true, now, now, &loop->random);
	}
}

Test(outage, a_looping_client_in_a_total_outage)
{
	static const int64_t until[] = { SECONDS(30), SECONDS(330) };
	const int runs = 2000;
	double first = 0, after = 0;
	int within = 0, most = 0;

	for (int i = 0; i < runs; i++) {
		int attempts[2] = { 0 };

		world_start(&world, 1000003ULL * i);
		loop_on_outage(&world, until, attempts, 2);
		first += attempts[0];
		after += attempts[1];
		within += attempts[0] <= 15;
		most = attempts[0] > most ? attempts[0] : most;
		cr_assert(attempts[1] <= 90, "%d attempts in 300 s", attempts[1]);
	}
	cr_log_info("outage: %.2f attempts in the first 30 s (most %d), %.1f %% of runs <= 15, "
	            "then %.3f/s",
	            first / runs, most, 100.0 * within / runs, after / runs / 300);
	cr_expect(first / runs <= 13, "%.2f", first / runs);
	cr_expect(first / runs >= 8, "%.2f: the loop hardly tries", first / runs);
	cr_expect(within >= runs * 95 / 100, "%d of %d", within, runs);
	cr_expect(after / runs / 300 <= 0.3, "%.3f/s", after / runs / 300);
	cr_expect(after / runs / 300 >= 0.1, "%.3f/s", after / runs / 300);
}

/* Requests of which each attempt fails with this chance, tried up to four times; load on the
 * server per request. Delays are left out: they do not change how many go. */
static double load_with_failures(int percent, bool budgeted)
{
	const int requests = 20000;
	int64_t now = START_OF_TIME;
	int attempts = 0;

	world_start(&world, 12);
	for (int i = 0; i < requests; i++) {
		now += 10 * NS_PER_MS;
		budget_first_try(account, now);
		for (int try = 0; try < 4; try++) {
			if (try > 0 && budgeted && budget_admit(account, 1000, now) == REFUSED)
				break;
			attempts++;
			if (random_upto(&world.random, 99) >= percent) {
				budget_success(account, now);
				break;
			}
			budget_failure(account, try > 0, now, now, &world.random);
		}
	}
	return attempts / (double)requests;
}

Test(outage, partial_and_total_outage_amplify_little)
{
	/* The published figures: 1.25 and 4.00 without a budget, at most 1.12 with one. */
	cr_expect_float_eq(load_with_failures(20, false), 1.25, 0.01);
	cr_expect_float_eq(load_with_failures(100, false), 4.00, 0.001);
	cr_expect_leq(load_with_failures(20, true), 1.12);
	cr_expect_geq(load_with_failures(20, true), 1.05, "retries are of use still");
	cr_expect_leq(load_with_failures(100, true), 1.01);
}

Test(outage, aws_rules_allow_51_attempts_on_timeouts)
{
	int attempts = 1;

	/* 500 tokens, 10 for a timeout, no floor: and never another, but for the probe. */
	world_start(&world, 1);
	world.policy.bucket = (struct bucket_rule) { .capacity = TOKENS(500), .start = PPM_WHOLE };
	world.policy.cost = TOKENS(5);
	world.policy.cost_timeout = TOKENS(10);
	world.process_rule.capacity = TOKENS(1000);
	budget_first_try(account, START_OF_TIME);
	for (int64_t t = 0; t < SECONDS(9); t += 10 * NS_PER_MS)
		attempts += budget_admit(account, budget_cost(&world.policy, FAILURE_TIMEOUT),
		                         START_OF_TIME + t) != REFUSED;
	cr_expect_eq(attempts, 51);
}
