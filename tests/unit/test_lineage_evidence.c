/* SPDX-License-Identifier: MIT */
/* All that can come together: which rule decides where nothing else is known. */
#include "dest/lineage_evidence.h"

#include <criterion/criterion.h>

static void expect(bool answering, bool returns, bool in_streak, const char *const wanted[])
{
	static const char *const names[] = { "unknown", "same", "other", "stranger" };

	for (int lineage = LINEAGE_UNKNOWN; lineage <= LINEAGE_STRANGER; lineage++) {
		/* What stood there is written over. */
		struct evidence evidence = { .stranger = true,
			                     .lineage = true,
			                     .same_command = true,
			                     .other_command = true };

		lineage_evidence((enum lineage)lineage, answering, returns, in_streak, &evidence);
		cr_expect_str_eq(rule_for(&evidence)->name, wanted[lineage],
		                 "%s, answering %d, returns %d, in a streak %d", names[lineage],
		                 answering, returns, in_streak);
		cr_expect_leq(evidence.stranger + evidence.lineage + evidence.same_command +
		                  evidence.other_command,
		              1);
	}
}

/* Of a process that has tried before, which shares nothing, or cannot be told: none. */
#define NOTHING "unclear"

static const char *const none[] = { NOTHING, NOTHING, NOTHING, NOTHING };
static const char *const silent[] = { NOTHING, "lineage", NOTHING, "stranger" };
static const char *const answers[] = { NOTHING, "same-command", "other-command", "stranger" };

Test(lineage_evidence, is_none_where_nothing_fails)
{
	expect(false, false, false, none);
}

Test(lineage_evidence, of_a_destination_that_does_not_answer)
{
	expect(false, false, true, silent);
}

Test(lineage_evidence, of_one_that_answers_others)
{
	expect(true, false, false, answers);
	expect(true, false, true, answers);
}

Test(lineage_evidence, is_on_the_way_back_what_it_was_in_the_outage)
{
	for (int answering = 0; answering < 2; answering++)
		for (int in_streak = 0; in_streak < 2; in_streak++)
			expect(answering, true, in_streak, silent);
}

Test(lineage_evidence, of_a_worker_is_what_it_takes_up)
{
	for (int takes_up = 0; takes_up < 2; takes_up++) {
		enum lineage of_both = takes_up ? LINEAGE_SAME : LINEAGE_OTHER;

		cr_expect_eq(lineage_of_worker(LINEAGE_UNKNOWN, takes_up), LINEAGE_UNKNOWN);
		cr_expect_eq(lineage_of_worker(LINEAGE_SAME, takes_up), of_both);
		cr_expect_eq(lineage_of_worker(LINEAGE_OTHER, takes_up), of_both);
		cr_expect_eq(lineage_of_worker(LINEAGE_STRANGER, takes_up), LINEAGE_STRANGER);
	}
}
