/* SPDX-License-Identifier: MIT */
/* The token bucket under an injected clock: sums to the milli-token, limits, hostile cells. */
#include "budget_fixture.h"

static const struct bucket_rule no_floor = { .capacity = 10000, .start = PPM_WHOLE };

static struct bucket bucket;

/* A bucket that has been asked once, so that its clock runs. */
static struct bucket *started(const struct bucket_rule *rule)
{
	memset(&bucket, 0, sizeof(bucket));
	bucket_start(&bucket, rule, START_OF_TIME);
	return &bucket;
}

Test(bucket, zeroes_are_a_new_bucket)
{
	struct bucket_rule rule = {
		.capacity = 10000, .earn = 100, .floor = 1000, .start = 300000
	};
	struct bucket fresh = { 0 };

	cr_expect_eq(bucket_peek(&fresh, &rule), 3000);
	cr_expect_eq(bucket_level(&fresh, &rule, START_OF_TIME), 3000, "no uptime is paid for");
	cr_expect_eq(bucket_level(&fresh, &rule, START_OF_TIME + SECONDS(2)), 5000);
	cr_expect_not(bucket_full(&fresh, &rule));
}

Test(bucket, a_deposit_may_come_first)
{
	struct bucket_rule rule = { .capacity = 10000, .floor = 1000 };
	struct bucket fresh = { 0 };

	bucket_deposit(&fresh, &rule, 100);
	cr_expect_eq(bucket_level(&fresh, &rule, START_OF_TIME), 100, "no uptime is paid for");
	cr_expect_eq(bucket_level(&fresh, &rule, START_OF_TIME + SECONDS(1)), 1100);
}

Test(bucket, odd_steps_pay_what_one_long_step_pays)
{
	static const int64_t floors[] = { 1, 3, 200, 999, 12345, 10000000, 700000001, 1000000000 };

	for (unsigned f = 0; f < sizeof(floors) / sizeof(floors[0]); f++) {
		struct bucket_rule rule = { .capacity = BUCKET_CAPACITY_MAX, .floor = floors[f] };
		int64_t enough = SECONDS(BUCKET_CAPACITY_MAX / floors[f] / 2);
		int64_t now = START_OF_TIME, elapsed, level;
		uint64_t random = f;

		started(&rule);
		for (int i = 0; i < 100000 && now - START_OF_TIME < enough; i++) {
			now += 1 + random_upto(&random, i % 2 ? 7 : enough / 100000);
			bucket_level(&bucket, &rule, now);
		}
		elapsed = now - START_OF_TIME;
		level = bucket_level(&bucket, &rule, now);
		cr_expect_leq(llabs(level - (int64_t)((long double)elapsed * floors[f] / 1e9L)), 1,
		              "floor %ld: %ld after %ld ns", (long)floors[f], (long)level,
		              (long)elapsed);
	}
}

Test(bucket, never_above_capacity)
{
	struct bucket_rule rule = { .capacity = 10000, .earn = 100, .floor = 200 };

	started(&rule);
	bucket_deposit(&bucket, &rule, 9999);
	cr_expect_not(bucket_full(&bucket, &rule));
	bucket_deposit(&bucket, &rule, 100);
	cr_expect(bucket_full(&bucket, &rule));
	cr_expect_eq(bucket_level(&bucket, &rule, START_OF_TIME + SECONDS(3600)), 10000);
	bucket_deposit(&bucket, &rule, -5000);
	bucket_deposit(&bucket, &rule, INT64_MIN);
	bucket_deposit(&bucket, &rule, INT64_MAX);
	cr_expect_eq(bucket_peek(&bucket, &rule), 10000, "a negative deposit is none");
	cr_expect_eq(bucket.holding, INT64_C(10000) << 32 | 10000, "nothing is saved above it");
	rule.earn = 0;
	bucket_withdraw(&bucket, &rule, 1000, START_OF_TIME);
	cr_expect(bucket_full(&bucket, &rule), "nothing to earn, nothing to write");
}

Test(bucket, withdrawals_are_all_or_nothing)
{
	started(&no_floor);
	cr_expect_eq(bucket_withdraw(&bucket, &no_floor, 9001, START_OF_TIME), 9001);
	cr_expect_eq(bucket_withdraw(&bucket, &no_floor, 1000, START_OF_TIME), -1);
	cr_expect_eq(bucket_peek(&bucket, &no_floor), 999, "a refusal takes nothing");
	cr_expect_eq(bucket_withdraw(&bucket, &no_floor, 999, START_OF_TIME), 999);
	cr_expect_eq(bucket_withdraw(&bucket, &no_floor, 1, START_OF_TIME), -1);
	cr_expect_eq(bucket_withdraw(&bucket, &no_floor, 0, START_OF_TIME), 0, "free is free");
	cr_expect_eq(bucket_withdraw(&bucket, &no_floor, -7, START_OF_TIME), 0);
	bucket_deposit(&bucket, &no_floor, 999);
	cr_expect_eq(bucket_peek(&bucket, &no_floor), 999, "a refund is exact");
}

Test(bucket, a_price_above_the_capacity_empties_the_bucket)
{
	started(&no_floor);
	cr_expect_eq(bucket_withdraw(&bucket, &no_floor, TOKENS(1000), START_OF_TIME), 10000);
	bucket_deposit(&bucket, &no_floor, 9999);
	cr_expect_eq(bucket_withdraw(&bucket, &no_floor, TOKENS(1000), START_OF_TIME), -1,
	             "not min(capacity, what there is): all or nothing");
}

Test(bucket, the_threshold_remains)
{
	struct bucket_rule rule = { .capacity = 10000, .start = PPM_WHOLE, .threshold = 500000 };
	int paid = 0;

	/* gRPC A6 with maxTokens 10: nothing goes at or below half. */
	started(&rule);
	while (bucket_withdraw(&bucket, &rule, 1000, START_OF_TIME) == 1000)
		paid++;
	cr_expect_eq(paid, 5);
	cr_expect_eq(bucket_peek(&bucket, &rule), 5000);
	bucket_deposit(&bucket, &rule, 999);
	cr_expect_eq(bucket_withdraw(&bucket, &rule, 1000, START_OF_TIME), -1);
	bucket_deposit(&bucket, &rule, 1);
	cr_expect_eq(bucket_withdraw(&bucket, &rule, 1000, START_OF_TIME), 1000);

	rule.threshold = PPM_WHOLE;
	started(&rule);
	cr_expect_eq(bucket_withdraw(&bucket, &rule, 1000, START_OF_TIME), 1,
	             "a full bucket pays what may go, and not for ever");
	cr_expect_eq(bucket_withdraw(&bucket, &rule, 1000, START_OF_TIME), -1);
}

Test(bucket, a_changed_capacity_keeps_the_fraction)
{
	struct bucket_rule small = { .capacity = 10000, .earn = 100, .start = 700000 };
	struct bucket_rule large = { .capacity = BUCKET_CAPACITY_MAX, .start = PPM_WHOLE };

	started(&small);
	cr_expect_eq(bucket_peek(&bucket, &large), BUCKET_CAPACITY_MAX / 10 * 7);
	cr_expect_eq(bucket_withdraw(&bucket, &large, TOKENS(100000), START_OF_TIME),
	             TOKENS(100000));
	cr_expect_eq(bucket_peek(&bucket, &small), 6000);

	/* Two processes with different files must not drain it by rounding. */
	small.capacity = 3000;
	bucket_deposit(&bucket, &small, 1);
	for (int i = 0; i < 1000; i++) {
		bucket_withdraw(&bucket, &large, 0, START_OF_TIME);
		bucket_withdraw(&bucket, &small, 0, START_OF_TIME);
	}
	cr_expect_eq(bucket_peek(&bucket, &small), 1801);

	bucket_deposit(&bucket, &small, 3000);
	cr_expect(bucket_full(&bucket, &small));
	large.earn = 100;
	cr_expect(bucket_full(&bucket, &large), "full stays full");
}

Test(bucket, time_that_jumps_pays_nothing_twice)
{
	struct bucket_rule rule = { .capacity = 100000, .floor = 1000 };

	started(&rule);
	cr_expect_eq(bucket_level(&bucket, &rule, START_OF_TIME + SECONDS(5)), 5000);
	cr_expect_eq(bucket_level(&bucket, &rule, START_OF_TIME + SECONDS(3)), 5000);
	cr_expect_eq(bucket_level(&bucket, &rule, START_OF_TIME + SECONDS(5)), 5000,
	             "a late rival's clock does not have two seconds paid again");
	cr_expect_eq(bucket_level(&bucket, &rule, INT64_MAX), 100000);
	cr_expect_eq(bucket_withdraw(&bucket, &rule, 100000, START_OF_TIME), 100000);
	cr_expect_eq(bucket_level(&bucket, &rule, START_OF_TIME), 0);
	cr_expect_eq(bucket_level(&bucket, &rule, START_OF_TIME + SECONDS(1)), 1000,
	             "a clock that once was absurd does not stop the floor");
	cr_expect_eq(bucket_level(&bucket, &rule, INT64_MIN), 1000);
	cr_expect_eq(bucket_level(&bucket, &rule, 0), 1000);
}

Test(bucket, a_floor_that_comes_with_a_reload_pays_from_then_on)
{
	struct bucket_rule rule = { .capacity = 10000 };

	started(&rule);
	cr_expect_eq(bucket_level(&bucket, &rule, START_OF_TIME + SECONDS(100)), 0);
	rule.floor = 1000;
	cr_expect_eq(bucket_level(&bucket, &rule, START_OF_TIME + SECONDS(101)), 1000);
}

Test(bucket, the_wait_is_exact)
{
	uint64_t random = 1;

	for (int i = 0; i < 20000; i++) {
		struct bucket_rule rule = { .capacity = 1 + random_upto(&random, TOKENS(1000)),
			                    .floor = 1 + random_upto(&random, 1L << (i % 30)),
			                    .start = random_upto(&random, PPM_WHOLE),
			                    .threshold = random_upto(&random, PPM_WHOLE) };
		int64_t cost = random_upto(&random, TOKENS(100));
		int64_t now = START_OF_TIME + random_upto(&random, SECONDS(10)), wait;
		struct bucket early;

		if (rule.floor > BUCKET_FLOOR_MAX)
			rule.floor = BUCKET_FLOOR_MAX;
		started(&rule);
		wait = bucket_wait(&bucket, &rule, cost, now);
		early = bucket;
		if (wait > 0)
			cr_assert_eq(bucket_withdraw(&early, &rule, cost, now + wait - 1), -1);
		cr_assert_geq(bucket_withdraw(&bucket, &rule, cost, now + wait), 0,
		              "capacity %ld floor %ld cost %ld wait %ld", (long)rule.capacity,
		              (long)rule.floor, (long)cost, (long)wait);
	}
	started(&no_floor);
	bucket_withdraw(&bucket, &no_floor, 10000, START_OF_TIME);
	cr_expect_eq(bucket_wait(&bucket, &no_floor, 1, START_OF_TIME), INT64_MAX);
	cr_expect_eq(bucket_wait(&bucket, &no_floor, 0, START_OF_TIME), 0);
}

/* A bit pattern of one of the kinds that break arithmetic. */
static int64_t hostile(uint64_t *random)
{
	static const int64_t edges[] = {
		0,         1,         -1,         INT64_MAX,     INT64_MIN,   UINT32_MAX,
		INT32_MAX, INT32_MIN, SECONDS(1), INT64_MAX - 1, -SECONDS(1), INT64_C(1) << 32
	};
	uint64_t drawn = random_next(random);

	if (drawn % 3 == 0)
		return edges[drawn / 3 % (sizeof(edges) / sizeof(edges[0]))];
	return (int64_t)(random_next(random) >> drawn % 64);
}

Test(bucket, hostile_cells_and_rules_stay_in_range)
{
	uint64_t random = 7;

	for (int i = 0; i < 200000; i++) {
		struct bucket_rule rule = { hostile(&random), hostile(&random), hostile(&random),
			                    hostile(&random), hostile(&random) };
		int64_t most = rule.capacity < 1                     ? 1
		               : rule.capacity > BUCKET_CAPACITY_MAX ? BUCKET_CAPACITY_MAX
		                                                     : rule.capacity;
		int64_t cost = hostile(&random), level, taken;

		bucket.holding = hostile(&random);
		bucket.refilled = hostile(&random);
		level = bucket_level(&bucket, &rule, hostile(&random));
		cr_assert(level >= 0 && level <= most);
		bucket.refilled = hostile(&random);
		taken = bucket_withdraw(&bucket, &rule, cost, hostile(&random));
		cr_assert(taken >= -1 && taken <= most);
		bucket.holding = hostile(&random);
		cr_assert_geq(bucket_wait(&bucket, &rule, cost, hostile(&random)), 0);
		bucket.holding = hostile(&random);
		bucket_deposit(&bucket, &rule, hostile(&random));
		level = bucket_peek(&bucket, &rule);
		cr_assert(level >= 0 && level <= most);
	}
}

Test(bucket, a_corrupted_clock_heals)
{
	struct bucket_rule rule = { .capacity = 100000, .floor = 1000 };
	uint64_t random = 3;

	for (int i = 0; i < 1000; i++) {
		int64_t before;

		started(&rule);
		bucket.refilled = hostile(&random);
		before = bucket_level(&bucket, &rule, START_OF_TIME);
		cr_assert(bucket_level(&bucket, &rule, START_OF_TIME + SECONDS(11)) > before ||
		              before == 100000,
		          "the floor pays again within a few seconds");
	}
}
