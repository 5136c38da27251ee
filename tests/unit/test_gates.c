/* SPDX-License-Identifier: MIT */
/* What stands beside the strategies: sample, max_attempts and probe; instances that share; charge.
 */
#include "strategies_fixture.h"
#include "budget/budget_wait.h"

Test(gates, sample_lets_that_share_of_failures_be_retried)
{
	int64_t now = START_OF_TIME;
	int gone = 0;

	begin(9, STRATEGY_BUCKET);
	world.policy.bucket.floor = BUCKET_FLOOR_MAX;
	world.policy.sample = 300000;
	for (int i = 0; i < 10000; i++) {
		int this = 0;

		now += SECONDS(1);
		budget_failure(account, false, now, now, &world.random);
		for (int again = 0; again < 5; again++)
			this += budget_admit(account, 1000, now) == ADMITTED;
		cr_assert(this == 0 || this == 5, "the failure, not the asking, is what is drawn");
		gone += this / 5;
	}
	cr_expect(gone > 2700 && gone < 3300, "%d", gone);
	world.policy.sample = 0;
	budget_failure(account, false, now, now, &world.random);
	cr_expect_eq(budget_admit(account, 1000, now), REFUSED);
	budget_success(account, now);
	cr_expect_eq(budget_token_wait(account, 1000, now), 0, "a success forgets it");
}

Test(gates, max_attempts_bounds_a_streak_until_a_success)
{
	int64_t now = START_OF_TIME;
	int gone = 0;

	begin(9, STRATEGY_BUCKET);
	world.policy.max_attempts = 3;
	budget_failure(account, false, now, now, &world.random);
	while (budget_admit(account, 1000, ++now) == ADMITTED && gone < 10) {
		gone++;
		budget_failure(account, true, now, now, &world.random);
	}
	cr_expect_eq(gone, 2, "three attempts: the first, and two retries");
	budget_success(account, now);
	cr_expect_eq(budget_admit(account, 1000, now), ADMITTED);
}

Test(gates, the_probe_overrides_both)
{
	int64_t now = START_OF_TIME;

	begin(9, STRATEGY_BUCKET);
	world.policy.max_attempts = 1;
	world.policy.sample = 0;
	world.policy.probe = SECONDS(10);
	budget_first_try(account, now);
	budget_failure(account, false, now, now, &world.random);
	cr_expect_eq(budget_admit(account, 1000, now + SECONDS(9)), REFUSED);
	cr_expect_eq(budget_token_wait(account, 1000, now + SECONDS(9)), SECONDS(1));
	cr_expect_eq(budget_admit(account, 1000, now + SECONDS(10)), ADMITTED_PROBE);
}

/* What a fleet of n gets together is what one gets alone, or one retry each. */
Test(gates, instances_share)
{
	for (int64_t n = 1; n <= 64; n *= 2) {
		int64_t now = START_OF_TIME, gone[2] = { 0 };

		for (int window = 0; window < 2; window++) {
			begin(1, window ? STRATEGY_WINDOW : STRATEGY_BUCKET);
			world.policy.bucket.capacity = TOKENS(32);
			world.policy.bucket.floor = 1600;
			world.policy.window_min = TOKENS(32);
			world.policy.instances = n;
			for (int i = 0; i < 20000; i++)
				gone[window] += ask(now + i * 5 * NS_PER_MS);
		}
		/* 100 s: a bucketful and 160; ten windows of 32. */
		cr_expect_leq(n * gone[0], greater(32, n) + 160 + n, "bucket, %ld", (long)n);
		cr_expect_geq(n * gone[0], 160, "bucket, %ld", (long)n);
		cr_expect_leq(n * gone[1], 352, "window, %ld: %ld", (long)n, (long)gone[1]);
		cr_expect(n > 32 ? gone[1] == 0 : n * gone[1] >= 270, "window, %ld: %ld", (long)n,
		          (long)gone[1]);
	}
}

/* Dividing the capacity must not make a retry cheap. */
Test(gates, an_instance_pays_the_whole_price)
{
	begin(1, STRATEGY_BUCKET);
	world.policy.instances = 100000;
	world.policy.cost = world.policy.cost_timeout = 5000;
	world.policy.bucket.threshold = 500000;
	cr_expect_eq(strategy_bucket.take(account, 5000, START_OF_TIME), 5000);
	cr_expect_eq(strategy_bucket.take(account, 5000, START_OF_TIME), -1);
}

Test(charge, failures_take_tokens_and_retries_look_at_the_level)
{
	int64_t now = START_OF_TIME, until;

	begin(1, STRATEGY_BUCKET);
	world.policy.charge = CHARGE_FAILURE;
	world.policy.bucket.threshold = 500000;
	for (int i = 0; i < 5; i++) {
		cr_expect(ask(now) && ask(now), "asking takes nothing");
		strategy_bucket.note(account, NOTE_FAILURE, 1000, now);
	}
	cr_expect(!ask(now), "at the threshold");
	until = wait(now);
	cr_expect(until > 0 && until < SECONDS(1), "the floor lifts it: %ld", (long)until);
	cr_expect(!ask(now + until - 1));
	cr_expect(ask(now + until));
	until = bucket_peek(&world.budget.bucket, &world.policy.bucket);
	strategy_bucket.refund(account, 1000, true);
	cr_expect_eq(bucket_peek(&world.budget.bucket, &world.policy.bucket), until,
	             "nothing was taken, and nothing comes back");
}
