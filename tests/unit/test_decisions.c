/* SPDX-License-Identifier: MIT */
/* The ring of the last verdicts: what is read is what was written, or nothing. */
#include "region/decisions.h"

#include <criterion/criterion.h>
#include <string.h>

static struct destination destination;

static void put(int64_t streak)
{
	decision_put(&destination, &(struct decision) {
				       .at = 5 * NS_PER_S,
				       .rule = 3,
				       .verdict = DECISION_REFUSED,
				       .reason = DECISION_GATE,
				       .failure = FAILURE_STATUS,
				       .source = SOURCE_RESERVE,
				       .streak = streak,
				       .tokens = 9300,
				       .process_tokens = 99000,
				       .due = 812 * NS_PER_MS,
				       .waited = 7 * NS_PER_MS,
				   });
}

Test(decisions, are_read_as_written_the_last_first)
{
	struct decision one;

	memset(&destination, 0, sizeof(destination));
	cr_expect_not(decision_get(&destination, 0, &one), "of nothing");
	for (int i = 1; i <= 20; i++)
		put(i);
	for (int back = 0; back < REGION_DECISIONS; back++) {
		cr_assert(decision_get(&destination, back, &one), "%d", back);
		cr_expect_eq(one.streak, 20 - back);
	}
	cr_expect_not(decision_get(&destination, REGION_DECISIONS, &one));
	cr_expect_eq(one.at, 5 * NS_PER_S);
	cr_expect_eq(one.rule, 3);
	cr_expect_eq(one.verdict, DECISION_REFUSED);
	cr_expect_eq(one.reason, DECISION_GATE);
	cr_expect_eq(one.failure, FAILURE_STATUS);
	cr_expect_eq(one.source, SOURCE_RESERVE);
	cr_expect_eq(one.tokens, 9300);
	cr_expect_eq(one.process_tokens, 99000);
	cr_expect_eq(one.due, 812 * NS_PER_MS);
	cr_expect_eq(one.waited, 7 * NS_PER_MS);
}

Test(decisions, of_refusals_in_a_row_the_last_is_known)
{
	const int64_t at = 5 * NS_PER_S;

	memset(&destination, 0, sizeof(destination));
	cr_expect_not(decision_is_known(&destination, 3, 0), "of nothing");
	for (int i = 0; i < 2 * REGION_DECISIONS; i++) {
		put(i);
		cr_expect(decision_is_known(&destination, 3, at + NS_PER_MS - 1));
	}
	cr_expect_not(decision_is_known(&destination, 3, at + NS_PER_MS), "of a moment before");
	cr_expect_not(decision_is_known(&destination, 4, at), "of another rule");
	decision_put(&destination,
	             &(struct decision) { .at = at, .rule = 3, .verdict = DECISION_WENT });
	cr_expect_not(decision_is_known(&destination, 3, at), "that one went");
	destination.decided = INT64_MIN;
	cr_expect_not(decision_is_known(&destination, 3, at), "corrupted");
	destination.decided = INT64_MAX;
	cr_expect_not(decision_is_known(&destination, 3, at), "corrupted");
}

Test(decisions, that_are_torn_are_passed_over)
{
	struct decision one;

	for (int word = 0; word < REGION_DECISION_WORDS; word++) {
		struct destination before;

		memset(&destination, 0, sizeof(destination));
		for (int i = 0; i < REGION_DECISIONS; i++)
			put(1);
		memcpy(&before, &destination, sizeof(before));
		put(2); /* into the first place again */
		destination.decisions[0].words[word] = before.decisions[0].words[word];
		cr_expect_not(decision_get(&destination, 0, &one), "word %d", word);
		cr_expect(decision_get(&destination, 1, &one), "and its neighbour holds");
	}
}

Test(decisions, of_noise_are_in_range)
{
	uint64_t random = 7;

	for (int round = 0; round < 2000; round++) {
		struct decision one;

		for (size_t i = 0; i < sizeof(destination.decisions) / 8; i++) {
			random = random * UINT64_C(6364136223846793005) + 1;
			((cell64 *)destination.decisions)[i] =
			    (int64_t)((random >> 16) & INT64_C(0xffffffffffff)) |
			    ((int64_t)(i / REGION_DECISION_WORDS + 1) << 48);
		}
		destination.decided = REGION_DECISIONS;
		for (int back = 0; back < REGION_DECISIONS; back++) {
			if (!decision_get(&destination, back, &one))
				continue;
			cr_assert(one.at >= 0 && one.streak >= 0 && one.tokens >= 0);
			cr_assert(one.verdict < DECISION_VERDICTS &&
			          one.reason < DECISION_REASONS && one.failure < FAILURE_COUNT &&
			          one.source < SOURCES);
			cr_assert(one.rule >= -1 && one.rule < 255);
		}
	}
	destination.decided = INT64_MIN;
	cr_expect_not(decision_get(&destination, 0, &(struct decision) { 0 }));
}
