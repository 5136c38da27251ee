/* SPDX-License-Identifier: MIT */
/* What retrybudget advise makes of numbers, worked by hand. */
#include <criterion/criterion.h>

#include "config/keys.h"
#include "tool/advise_rules.c"

static struct config config;
static struct advice advice;

/* 10 requests a second, outages of 1 s, half of the retries answered. */
static struct facts busy(void)
{
	struct facts facts = { .seconds = 100,
		               .first = 1000,
		               .first_failed = 100,
		               .retries = 200,
		               .retries_answered = 100,
		               .refused = 30 };

	facts.recoveries[10] = 9;
	facts.recoveries[15] = 2;
	config_defaults(&config);
	return facts;
}

static bool says(const struct facts *facts, enum advice_kind kind)
{
	return advise(facts, &config.policies[0], &config.process, kind, &advice);
}

Test(advise, capacity_is_what_a_short_outage_takes)
{
	struct facts facts = busy();

	cr_assert(says(&facts, ADVICE_CAPACITY));
	/* under 1.024 s, 10/s, 2 retries each: 20.48 */
	cr_assert_str_eq(advice.line, "capacity = 21");
	cr_assert_eq(advice.policy.bucket.capacity, 21000);
	facts.retries = 1000000;
	cr_assert(says(&facts, ADVICE_CAPACITY));
	cr_assert_str_eq(advice.line, "capacity = 31", "of an endless loop three are enough");
}

Test(advise, no_more_tokens_than_all_destinations_share)
{
	struct facts facts = busy();

	facts.seconds = 10; /* 205 tokens, of 100 */
	cr_assert(says(&facts, ADVICE_CAPACITY));
	cr_assert_str_eq(advice.line, "capacity = 100");
	config.process.capacity = 10000;
	cr_assert_not(says(&facts, ADVICE_CAPACITY));
}

/* One first try, and nothing else for an hour. */
Test(advise, a_pure_loop_is_one)
{
	struct facts facts = {
		.seconds = 3600, .first = 1, .first_failed = 1, .retries = 5000, .refused = 4800
	};

	config_defaults(&config);
	cr_assert(facts_is_loop(&facts));
	cr_assert(facts_suffice(&facts));
	for (int kind = 0; kind < ADVICE_KINDS; kind++)
		cr_assert_not(says(&facts, (enum advice_kind)kind));
	facts.observed = true;
	cr_assert(says(&facts, ADVICE_MODE));
	facts.first = 1000;
	cr_assert_not(facts_is_loop(&facts), "five retries each");
	facts.first = 1;
	facts.retries = 19;
	cr_assert_not(facts_suffice(&facts));
}

Test(advise, capacity_is_not_for_long_outages_nor_without_need)
{
	struct facts facts = busy();

	facts.recoveries[15] = 90;
	cr_assert_not(says(&facts, ADVICE_CAPACITY), "32 s are to be throttled");
	facts = busy();
	facts.refused = 0;
	cr_assert_not(says(&facts, ADVICE_CAPACITY));
	cr_assert_not(says(&facts, ADVICE_EARN));
	facts = busy();
	facts.seconds = 1000;
	cr_assert_not(says(&facts, ADVICE_CAPACITY), "10 tokens are more than 3");
}

Test(advise, earn_is_what_answered_retries_are_worth)
{
	struct facts facts = busy();

	cr_assert_not(says(&facts, ADVICE_EARN), "10 %% is what it is");
	facts.retries = 310;
	facts.retries_answered = 160;
	cr_assert(says(&facts, ADVICE_EARN));
	cr_assert_str_eq(advice.line, "earn = 20%");
	cr_assert_eq(advice.policy.bucket.earn, 200);
	facts.retries_answered = 154;
	cr_assert_not(says(&facts, ADVICE_EARN), "more than half were in vain");
}

Test(advise, herds_are_spread_and_few_numbers_say_nothing)
{
	struct facts facts = busy();

	facts.observed = true;
	cr_assert(says(&facts, ADVICE_MODE));
	facts.first = 19;
	for (int kind = 0; kind < ADVICE_KINDS; kind++)
		cr_assert_not(says(&facts, (enum advice_kind)kind));
	facts.herd = 81; /* with a start_burst of 10 */
	cr_assert(says(&facts, ADVICE_START_SPREAD));
	cr_assert_str_eq(advice.line, "start_spread = 9s");
	facts.herd = 1000;
	cr_assert(says(&facts, ADVICE_START_SPREAD));
	cr_assert_str_eq(advice.line, "start_spread = 10s", "no call waits longer");
	facts.herd = 10;
	cr_assert_not(says(&facts, ADVICE_START_SPREAD));
}

Test(advise, garbage_of_a_region_overflows_nothing)
{
	struct facts facts = { .seconds = 1,
		               .first = INT64_MAX,
		               .first_failed = 1,
		               .retries = INT64_MAX,
		               .retries_answered = INT64_MAX,
		               .refused = INT64_MAX,
		               .herd = INT32_MAX };

	config_defaults(&config);
	facts.recoveries[13] = INT64_MAX;
	for (int kind = 0; kind < ADVICE_KINDS; kind++)
		(void)says(&facts, (enum advice_kind)kind);
}
