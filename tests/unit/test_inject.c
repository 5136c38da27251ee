/* SPDX-License-Identifier: MIT */
/* What `run --inject` takes, and what becomes of each attempt. */
#include "sys/inject_text.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(inject, steps_come_in_their_order)
{
	static const enum inject_kind wanted[] = { INJECT_REFUSED, INJECT_REFUSED,
		                                   INJECT_HANG,    INJECT_UNREACHABLE,
		                                   INJECT_NOTHING, INJECT_NOTHING };
	struct inject_plan plan;

	cr_assert_null(inject_parse("db.internal:5432=refused:2,hang:1,unreachable:1\nx", &plan));
	cr_expect_str_eq(plan.name, "db.internal:5432");
	for (int i = 0; i < 6; i++)
		cr_expect_eq(inject_step(&plan, i), wanted[i], "%d", i);
}

Test(inject, what_is_wrong_is_told)
{
	static const char *const wrong[] = { "",
		                             "x",
		                             "=refused:1",
		                             "a=",
		                             "a=refused",
		                             "a=refused:",
		                             "a=refused:0",
		                             "a=refused:-1",
		                             "a=refused:2000000",
		                             "a=refused:99999999999",
		                             "a=refuse:1",
		                             "a=refused:1,",
		                             "a=refused:1;hang:1",
		                             "a=refused:1 ",
		                             "a\n=refused:1",
		                             "a=hang:1,hang:1,hang:1,hang:1,hang:1" };
	struct inject_plan plan;
	char line[400];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		cr_expect_not_null(inject_parse(wrong[i], &plan), "%s", wrong[i]);
	snprintf(line, sizeof(line), "%0300d=refused:1", 7);
	cr_expect_not_null(inject_parse(line, &plan));
}

Test(inject, means_a_destination_or_all_ports_of_a_name)
{
	struct inject_plan plan;

	cr_assert_null(inject_parse("db=hang:1", &plan));
	cr_expect(inject_means(&plan, "db:5432"));
	cr_expect(inject_means(&plan, "db"));
	cr_expect_not(inject_means(&plan, "db2:5432"));
	cr_expect_not(inject_means(&plan, "d"));
	cr_assert_null(inject_parse("db:1=hang:1", &plan));
	cr_expect(inject_means(&plan, "db:1"));
	cr_expect_not(inject_means(&plan, "db:12"));
	cr_assert_null(inject_parse("unix=hang:1", &plan));
	cr_expect_not(inject_means(&plan, "unix:/run/x"));
	cr_assert_null(inject_parse("unix:/run/x=refused:1", &plan));
	cr_expect(inject_means(&plan, "unix:/run/x"));
}
