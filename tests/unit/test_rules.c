/* SPDX-License-Identifier: MIT */
/* The rules: each alone, and every combination of evidence. */
#include "dest/rules.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *why(const struct evidence *evidence)
{
	return rule_for(evidence)->name;
}

Test(rules, each_alone_decides)
{
	cr_expect_str_eq(why(&(struct evidence) { .quiet = true }), "quiet");
	cr_expect_str_eq(why(&(struct evidence) { .same = true }), "same-request");
	cr_expect_str_eq(why(&(struct evidence) { .other = true }), "other-request");
	cr_expect_str_eq(why(&(struct evidence) { .demand = true }), "demand");
	cr_expect_str_eq(why(&(struct evidence) { .stranger = true }), "stranger");
	cr_expect_str_eq(why(&(struct evidence) { .lineage = true }), "lineage");
	cr_expect_str_eq(why(&(struct evidence) { .same_command = true }), "same-command");
	cr_expect_str_eq(why(&(struct evidence) { .other_command = true }), "other-command");
	cr_expect_str_eq(why(&(struct evidence) { .sweep = true }), "sweep");
	cr_expect_str_eq(why(&(struct evidence) { .other_work = true }), "other-work");
	cr_expect_str_eq(why(&(struct evidence) { .denied = true }), "denied");
	cr_expect_str_eq(why(&(struct evidence) { .mixed = true }), "mixed");
	cr_expect_str_eq(why(&(struct evidence) { .asked = true }), "asked");
	cr_expect_str_eq(why(&(struct evidence) { .invited = true }), "invited");
	cr_expect_str_eq(why(&(struct evidence) { .kept = true }), "kept");
	cr_expect_str_eq(why(&(struct evidence) { .again = true }), "again");
	cr_expect_str_eq(why(&(struct evidence) { .loop = true }), "loop");
	cr_expect_str_eq(why(&(struct evidence) { 0 }), "unclear");
}

/* One for each rule but the last, which needs none. */
#define FIELDS (sizeof(struct evidence) / sizeof(bool))

Test(rules, of_all_combinations_the_first_that_holds_decides)
{
	cr_assert_eq(rule_count, FIELDS + 1, "a rule without evidence, or evidence of no rule");
	for (int bits = 0; bits < 1 << FIELDS; bits++) {
		bool held[FIELDS + 1] = { [FIELDS] = true };
		struct evidence evidence;
		size_t first = 0;

		for (size_t i = 0; i < FIELDS; i++)
			held[i] = bits >> i & 1;
		evidence = (struct evidence) { .quiet = held[0],
			                       .demand = held[1],
			                       .invited = held[2],
			                       .kept = held[3],
			                       .same = held[4],
			                       .other = held[5],
			                       .stranger = held[6],
			                       .lineage = held[7],
			                       .same_command = held[8],
			                       .other_command = held[9],
			                       .sweep = held[10],
			                       .other_work = held[11],
			                       .denied = held[12],
			                       .mixed = held[13],
			                       .asked = held[14],
			                       .again = held[15],
			                       .loop = held[16] };

		while (!held[first])
			first++;
		cr_assert_eq(rule_for(&evidence), &rules[first], "evidence %x: %s, not %s", bits,
		             why(&evidence), rules[first].name);
	}
}

Test(rules, are_told_from_each_other_and_explained)
{
	for (size_t i = 0; i < rule_count; i++) {
		cr_expect_gt(strlen(rules[i].reason), 10);
		for (size_t j = 0; j < i; j++)
			cr_expect(strcmp(rules[i].name, rules[j].name) != 0);
	}
	cr_expect_str_eq(RULE_QUIET->name, "quiet");
	cr_expect_eq(RULE_QUIET->says, KIND_NEW);
	cr_expect_eq(rules[rule_count - 1].says, KIND_UNCLEAR);
}
