/* SPDX-License-Identifier: MIT */
/* What travels between the daemon and the ledger. */
#include "agent/fleet_wire.h"

#include <criterion/criterion.h>
#include <string.h>

static struct wire_call call;

Test(fleet_wire, a_request_says_all_in_the_order_of_the_library)
{
	static const char *const words[] = { "FCALL",
		                             "retrybudget_1_sync",
		                             "2",
		                             "rb:{db}",
		                             "rb:{db}:host:h1",
		                             "1",
		                             "2",
		                             "3",
		                             "4",
		                             "9",
		                             "5",
		                             "7",
		                             "-1",
		                             "6",
		                             "8",
		                             "10",
		                             "11",
		                             "12",
		                             "13" };
	const struct ledger_ask ask = { 1, 2, 3, 4, { 5, 6 }, { 7, 8 }, { -1, 10 }, 11, 12, 13 };

	cr_assert(wire_sync(&call, "rb", "db", "h1", &ask, 9));
	cr_assert_eq(call.count, (int)(sizeof(words) / sizeof(*words)));
	for (int i = 0; i < call.count; i++) {
		cr_assert_str_eq(call.argv[i], words[i]);
		cr_assert_eq(call.lengths[i], strlen(words[i]));
	}
}

Test(fleet_wire, a_name_that_is_too_long_is_not_cut)
{
	char label[WIRE_KEY + 1];
	const struct ledger_ask ask = { 0 };

	memset(label, 'x', sizeof(label) - 1);
	label[sizeof(label) - 1] = '\0';
	cr_assert_not(wire_sync(&call, "rb", label, "h", &ask, 0));
}

Test(fleet_wire, an_answer_is_read_with_its_rule_or_without)
{
	const int64_t numbers[18] = { 0,  1,  2, 3,      1,    5000,  1, 7,      8,
		                      -1, 10, 2, 100000, 1000, 10000, 5, 900000, 20000 };
	struct ledger_answer answer;
	struct fleet_rule rule;
	bool has_rule;

	cr_assert(wire_answer(numbers, 11, &answer, &rule, &has_rule));
	cr_assert_not(has_rule);
	cr_assert_eq(answer.grant[PURSE_TOKENS], 5000);
	cr_assert_eq(answer.success_age, -1);
	cr_assert_eq(answer.failing, 10);
	cr_assert(wire_answer(numbers, 18, &answer, &rule, &has_rule));
	cr_assert(has_rule);
	cr_assert_eq(rule.generation, 2);
	cr_assert_eq(rule.lifetime, 20000);
}

Test(fleet_wire, what_is_no_answer_is_none)
{
	int64_t numbers[18] = { 0, 1, 2, 3, 1, 5000, 1, 7, 8, -1, 10, 2 };
	struct ledger_answer answer;
	struct fleet_rule rule;
	bool has_rule;

	cr_assert_not(wire_answer(numbers, 0, &answer, &rule, &has_rule));
	cr_assert_not(wire_answer(numbers, 1, &answer, &rule, &has_rule));
	cr_assert_not(wire_answer(numbers, 12, &answer, &rule, &has_rule));
	cr_assert_not(wire_answer(numbers, 18, &answer, &rule, &has_rule), "a rule out of range");
	numbers[0] = 7;
	cr_assert_not(wire_answer(numbers, 11, &answer, &rule, &has_rule));
	numbers[0] = LEDGER_NO_RULE;
	cr_assert(wire_answer(numbers, 1, &answer, &rule, &has_rule));
	cr_assert_eq(answer.status, LEDGER_NO_RULE);
}
