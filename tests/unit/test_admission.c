/* SPDX-License-Identifier: MIT */
/* The arithmetic of admission, under an injected clock. */
#include "budget_fixture.h"

#include "region/region.h"

static struct admission admission;

static struct admission_rule rule_of(int64_t rate, int64_t burst)
{
	return (struct admission_rule) { .mode = MODE_ENFORCE, .rate = rate, .burst = burst };
}

Test(admission, a_burst_and_then_the_rate)
{
	struct admission_rule rule = rule_of(TOKENS(20), TOKENS(5));
	int64_t now = START_OF_TIME;

	for (int i = 0; i < 5; i++)
		cr_expect(admission_take(&admission, &rule, 0, now), "%d", i);
	cr_expect(!admission_take(&admission, &rule, 0, now));
	cr_expect(!admission_take(&admission, &rule, 0, now + 49 * NS_PER_MS));
	cr_expect(admission_take(&admission, &rule, 0, now + 50 * NS_PER_MS));
	cr_expect(!admission_take(&admission, &rule, 0, now + 50 * NS_PER_MS));
	cr_expect_eq(admission.admitted, 6);
	cr_expect_eq(admission.rejected, 3);
	cr_expect_eq(admission_tokens(&admission, &rule), 0);
}

/* Whatever the arrivals are like: in no stretch of time more than burst + rate. */
Test(admission, never_more_than_burst_and_rate)
{
	const int64_t rates[] = { 1, 500, TOKENS(1), TOKENS(33), TOKENS(1000000) };
	uint64_t random = 7;

	for (size_t r = 0; r < sizeof(rates) / sizeof(*rates); r++) {
		struct admission_rule rule = rule_of(rates[r], TOKENS(1 + (int64_t)r * 3));
		int64_t began = START_OF_TIME, now = began, admitted = 0;

		memset(&admission, 0, sizeof(admission));
		for (int i = 0; i < 20000; i++) {
			int64_t most;

			now += random_upto(&random, 20 * NS_PER_MS);
			admitted += admission_take(&admission, &rule, 0, now);
			most = rule.burst + (now - began) / NS_PER_S * rule.rate +
			       (now - began) % NS_PER_S * rule.rate / NS_PER_S;
			cr_assert_leq(admitted * MT_PER_TOKEN, most, "rate %ld after %d",
			              (long)rule.rate, i);
		}
		cr_expect_gt(admitted, 0);
		cr_expect_eq(admission.admitted + admission.rejected, 20000);
	}
}

/* Those who have waited longest go, at no cost to the others. */
Test(admission, nobody_with_a_burst_behind)
{
	struct admission_rule rule = rule_of(TOKENS(20), TOKENS(5) + 700);
	int64_t now = START_OF_TIME;

	memset(&admission, 0, sizeof(admission));
	for (int64_t behind = 12; behind >= 5; behind--)
		cr_expect(!admission_take(&admission, &rule, behind, now), "%ld", (long)behind);
	for (int64_t behind = 4; behind >= 0; behind--)
		cr_expect(admission_take(&admission, &rule, behind, now), "%ld", (long)behind);
	cr_expect(!admission_take(&admission, &rule, 0, now));
	cr_expect_eq(admission.admitted, 5);
	cr_expect_eq(admission.rejected, 9);
}

/* A server that does nothing but accept and serve, one at a time, given four times what it can: its
 * rate is a hundredth below that, so the bucket alone would let the queue be for long. */
Test(admission, the_queue_of_a_busy_server_stays_short)
{
	struct admission_rule rule = rule_of(TOKENS(20) * 99 / 100, TOKENS(9));
	const int64_t work = 50 * NS_PER_MS, gap = work / 4, end = SECONDS(60);
	int64_t came = 0, taken = 0, served = 0, late = 0, now = 0;

	memset(&admission, 0, sizeof(admission));
	while (now < end) {
		int64_t born = taken * gap;

		came = now / gap + 1;
		if (taken == came) { /* nobody there: the next one */
			now = came * gap;
			continue;
		}
		taken++;
		if (!admission_take(&admission, &rule, came - taken, START_OF_TIME + now))
			continue;
		now += work;
		served++;
		late += now - born > NS_PER_S;
	}
	cr_expect_gt(served, 60 * 20 * 95 / 100, "%ld", (long)served);
	cr_expect_eq(late, 0, "%ld of %ld", (long)late, (long)served);
}

/* No lock-out: whoever comes after 1/rate finds a token, whatever was rejected meanwhile. */
Test(admission, the_refused_cost_nothing)
{
	struct admission_rule rule = rule_of(TOKENS(2), TOKENS(1));
	int64_t now = START_OF_TIME;

	cr_assert(admission_take(&admission, &rule, 0, now));
	for (int turn = 0; turn < 50; turn++) {
		for (int i = 0; i < 100; i++)
			cr_assert(!admission_take(&admission, &rule, 0, now + i * NS_PER_MS));
		now += NS_PER_S / 2;
		cr_assert(admission_take(&admission, &rule, 0, now), "turn %d", turn);
	}
}

Test(admission, corrupted)
{
	struct admission_rule rule = rule_of(TOKENS(1), TOKENS(3));

	memset(&admission, 0xff, sizeof(admission));
	for (int i = 0; i < 10; i++)
		(void)admission_take(&admission, &rule, 0, START_OF_TIME + i * NS_PER_S);
	cr_expect_leq(admission_tokens(&admission, &rule), rule.burst);
	cr_expect_geq(admission_tokens(&admission, &rule), 0);
}

Test(admission, whole_seconds_never_too_few)
{
	struct admission_rule rule = { .retry_after = NS_PER_S };

	cr_expect_eq(admission_seconds(&rule), 1);
	rule.retry_after++;
	cr_expect_eq(admission_seconds(&rule), 2);
	rule.retry_after = 24 * 3600 * NS_PER_S;
	cr_expect_eq(admission_seconds(&rule), 86400);
}

Test(admission, one_for_each_key_until_there_is_no_room)
{
	static struct admission admissions[3];

	cr_expect_eq(admission_find(admissions, 3, 11), &admissions[0]);
	cr_expect_eq(admission_find(admissions, 3, -5), &admissions[1]);
	cr_expect_eq(admission_find(admissions, 3, 11), &admissions[0]);
	cr_expect_eq(admission_find(admissions, 3, 7), &admissions[2]);
	cr_expect_null(admission_find(admissions, 3, 8));
	cr_expect_eq(admission_find(admissions, 3, 7), &admissions[2]);
}

static struct admission many[64];

static void find_all(struct racer *racer)
{
	pthread_barrier_wait(racer->line);
	for (int i = 0; i < 48; i++)
		count(&admission_find(many, 64, 1 + (i * 7 + racer->number) % 48)->admitted);
}

/* Threads that look for the same keys in another order each get one section per key. */
Test(admission, threads_find_the_same_one)
{
	int used = 0;

	race(find_all, many);
	for (int i = 0; i < 64; i++) {
		used += many[i].key != 0;
		cr_expect(many[i].key == 0 || many[i].admitted == RACERS, "%d", i);
	}
	cr_expect_eq(used, 48);
}
