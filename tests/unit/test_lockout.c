/* SPDX-License-Identifier: MIT */
/*
 * Nothing is ever locked out. A destination is down for 60 s while a program makes 100 attempts a
 * second, then it is back: an attempt must go within one probe interval, whatever the parameters.
 * gRPC's and AWS's buckets, copied into connect() as they are, fail this for good.
 *
 * Parameters come from the corners that the key table allows, so that a new range is tested as soon
 * as it is written there, and from a grid that goes beyond the table.
 */
#include "budget_fixture.h"
#include "budget/budget_wait.h"
#include "budget/streak.h"
#include "config/keys.h"

#define STEP   (10 * NS_PER_MS)
#define OUTAGE SECONDS(60)

static struct world world;

/* What one call comes to: true if an attempt goes. It advances the clock by what it is held. */
static bool call_blocking(int64_t cost, int64_t *now)
{
	if (budget_verdict(&world.account, cost, *now) != REFUSED)
		return true;
	*now += world.policy.hold;
	return budget_verdict(&world.account, cost, *now) != REFUSED;
}

static bool call_nonblocking(int64_t cost, int64_t *now)
{
	return budget_verdict(&world.account, cost, *now) != REFUSED;
}

/* Plays the outage and the recovery with world.policy; fails the test on a lock-out. */
static void play(bool blocking, uint64_t seed)
{
	const struct policy *policy = &world.policy;
	int64_t bound = policy->probe + STEP + (blocking ? policy->hold : 0);
	int64_t now = START_OF_TIME, admitted = now;
	bool (*call)(int64_t, int64_t *) = blocking ? call_blocking : call_nonblocking;

	world.random = seed;
	memset(&world.budget, 0, sizeof(world.budget));
	memset(&world.process, 0, sizeof(world.process));
	budget_first_try(&world.account, now);
	budget_failure(&world.account, false, now, now, &world.random);
	for (unsigned i = 0;; i++) {
		int64_t cost = budget_cost(policy, i % 3 ? FAILURE_REFUSED : FAILURE_TIMEOUT);
		int64_t pause = STEP, since;
		bool up = now >= START_OF_TIME + OUTAGE, gone = call(cost, &now);

		up = up || now >= START_OF_TIME + OUTAGE;
		since = up ? greater(admitted, START_OF_TIME + OUTAGE) : admitted;
		cr_assert(
		    now - since <= bound,
		    "locked out for %.3f s: %s seed %lu capacity %ld earn %ld floor %ld "
		    "start %ld threshold %ld cost %ld/%ld probe %ld base %ld factor %ld cap "
		    "%ld min %ld jitter %d hold %ld process %ld",
		    (double)(now - since) / 1e9, blocking ? "blocking" : "non-blocking",
		    (unsigned long)seed, (long)policy->bucket.capacity, (long)policy->bucket.earn,
		    (long)policy->bucket.floor, (long)policy->bucket.start,
		    (long)policy->bucket.threshold, (long)policy->cost, (long)policy->cost_timeout,
		    (long)policy->probe, (long)policy->backoff.base, (long)policy->backoff.factor,
		    (long)policy->backoff.cap, (long)policy->backoff.min, policy->backoff.jitter,
		    (long)policy->hold, (long)world.process_rule.capacity);
		if (gone) {
			if (up)
				break;
			admitted = now;
			budget_failure(&world.account, true, now, now, &world.random);
		} else if (up) {
			/* An hour's probe is not sat out in hundredths of a second. */
			pause = greater(STEP, budget_token_wait(&world.account, cost, now) / 2);
		}
		now += pause;
	}
	cr_assert_gt(budget_success(&world.account, now), 0);
}

/* The process-wide bucket at its defaults, or with nothing in it and nothing to come. */
static void play_all(uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		world.process_rule =
		    i % 2 ? (struct bucket_rule) { .capacity = 1000 } : default_process;
		play(i / 2, seed);
	}
}

static bool numeric(const struct key *key)
{
	return key->section == SECTION_DESTINATION && key->type <= TYPE_COUNT &&
	       key->min < key->max;
}

static void set(const struct key *key, int64_t value)
{
	cr_assert_eq(key->size, sizeof(int64_t), "%s", key->name);
	memcpy((char *)&world.policy + key->offset, &value, sizeof(value));
}

/* The strategies in turn, and what they can be told to do. */
static void choose_words(int number)
{
	world.policy.strategy = number % STRATEGY_COUNT;
	number /= STRATEGY_COUNT;
	world.policy.charge = number & 1;
	world.policy.refund = number >> 1 & 1;
	world.policy.ratio_of = number & 1;
	world.policy.reserve = number >> 1 & 1;
}

Test(lockout, defaults)
{
	for (uint64_t seed = 0; seed < 100; seed++) {
		world_start(&world, 1);
		choose_words((int)seed);
		play_all(seed);
	}
}

/* Every pair of keys at every pair of ends of their ranges, under every jitter. */
Test(lockout, every_pair_of_extremes_in_the_key_table)
{
	int pairs = 0;

	for (int a = 0; a < KEY_COUNT; a++) {
		for (int b = a + 1; b < KEY_COUNT; b++) {
			const struct key *one = &config_keys[a], *other = &config_keys[b];

			if (!numeric(one) || !numeric(other))
				continue;
			for (int ends = 0; ends < 4; ends++) {
				world_start(&world, 1);
				world.policy.backoff.jitter = pairs % 4;
				choose_words(pairs++);
				set(one, ends & 1 ? one->max : one->min);
				set(other, ends & 2 ? other->max : other->min);
				play_all((uint64_t)pairs);
			}
		}
	}
	cr_expect_gt(pairs, 4 * 50, "the table was found");
}

/* All keys at once, each at an end or somewhere between. */
Test(lockout, mixtures_of_extremes_in_the_key_table)
{
	uint64_t random = 2024;

	for (int i = 0; i < 500; i++) {
		world_start(&world, 1);
		for (int k = 0; k < KEY_COUNT; k++) {
			const struct key *key = &config_keys[k];
			int64_t ends[] = { key->min, key->max, key->max, 0 };

			if (!numeric(key))
				continue;
			ends[3] = key->min + random_upto(&random, key->max - key->min);
			ends[2] = key->min + random_upto(&random, (key->max - key->min) / 1000);
			set(key, ends[random_upto(&random, 3)]);
		}
		world.policy.backoff.jitter = (int32_t)random_upto(&random, 3);
		choose_words((int)random_upto(&random, 1000000));
		play_all(random_next(&random));
	}
}

#define PICK(...)                                                                                  \
	({                                                                                         \
		static const int64_t list[] = { __VA_ARGS__ };                                     \
		list[random_upto(&random, sizeof(list) / sizeof(*list) - 1)];                      \
	})

/* Beyond the table: a sample of a grid of 1.3 million points, some of them absurd. */
Test(lockout, a_grid_beyond_the_key_table)
{
	uint64_t random = 7777;

	for (int i = 0; i < 700; i++) {
		world_start(&world, 1);
		world.policy.bucket = (struct bucket_rule) {
			.capacity = PICK(TOKENS(1), TOKENS(10), TOKENS(1000000)),
			.earn = PICK(0, 100, 1000),
			.floor = PICK(0, 1, 200, BUCKET_FLOOR_MAX),
			.start = PICK(0, PPM_WHOLE),
			.threshold = PICK(0, 500000, 990000, PPM_WHOLE),
		};
		world.policy.backoff = (struct backoff_rule) {
			.base = PICK(NS_PER_MS, 100 * NS_PER_MS, SECONDS(3600)),
			.factor = PICK(1000, 2000, 100000),
			.cap = PICK(NS_PER_MS, SECONDS(10), SECONDS(86400)),
			.min = PICK(0, 10 * NS_PER_MS, SECONDS(3600)),
			.jitter = (int32_t)random_upto(&random, 3),
		};
		world.policy.cost = PICK(0, TOKENS(1), TOKENS(1000));
		world.policy.cost_timeout = PICK(0, TOKENS(1), TOKENS(1000));
		world.policy.probe = PICK(100 * NS_PER_MS, SECONDS(10), SECONDS(3600));
		world.policy.hold = PICK(0, SECONDS(1), SECONDS(10));
		play_all(random_next(&random));
	}
}

/* Where a breaker lets nobody by the budget is not asked, as in verdict_take(). */
static bool goes(int64_t now)
{
	const struct account *account = &world.account;
	enum breaker_change change;

	switch (breaker_ask(&world.budget.breaker, &world.policy.breaker, now, &change)) {
	case BREAKER_HOLD:
		return false;
	case BREAKER_PROBE:
		return budget_retry_after_wait(account, now) == 0;
	default:
		return budget_due(account, TOKENS(1), now) == 0 &&
		       budget_admit(account, TOKENS(1), now) != REFUSED;
	}
}

/* Anything at all in the cells, or near what belongs there. */
static int64_t any_value(void)
{
	static const int64_t edges[] = { 0,         1,         -1,         INT64_MAX,
		                         INT64_MIN, INT32_MAX, UINT32_MAX, INT64_MAX - 1 };

	switch (random_upto(&world.random, 2)) {
	case 0:
		return edges[random_upto(&world.random, sizeof(edges) / sizeof(*edges) - 1)];
	case 1:
		return START_OF_TIME + random_upto(&world.random, SECONDS(200)) - SECONDS(100);
	default:
		return (int64_t)random_next(&world.random);
	}
}

/* Nor by anything that another process writes, which then leaves it alone: an attempt goes within
 * the longest time of the policy. */
Test(lockout, corrupted_cells)
{
	cell64 *cells = (cell64 *)&world.budget;
	size_t words = sizeof(world.budget) / sizeof(*cells);

	for (size_t i = 0; i < 50 * words; i++) {
		int64_t now = START_OF_TIME, bound;

		world_start(&world, i + 1);
		choose_words((int)(i / words));
		world.policy.probe = SECONDS(2);
		world.policy.retry_after_cap = SECONDS(3);
		world.policy.breaker =
		    (struct breaker_rule) { .on = i & 1, .open = SECONDS(4), .probes = 1 };
		/* Of probes that seem to be under way nothing is known until both halves of the
		 * ring have gone by. */
		bound = SECONDS(3) + (i & 1 ? SECONDS(4) * 33 / 10 : 0);
		budget_first_try(&world.account, now);
		budget_failure(&world.account, false, now, now, &world.random);
		if (i % 3)
			atomic_store(&cells[i % words], any_value());
		else
			for (size_t k = 0; k < words; k++)
				atomic_store(&cells[k], any_value());
		while (!goes(now)) {
			now += STEP;
			cr_assert(now <= START_OF_TIME + bound + STEP, "round %zu, word %zu", i,
			          i % words);
		}
	}
}
