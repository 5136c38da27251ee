/* SPDX-License-Identifier: MIT */
/* A host's file beside the rule of the fleet. */
#include "tool/fleet_differs.h"

#include <criterion/criterion.h>
#include <string.h>

static char keys[FLEET_DIFFERS];

static struct fleet_rule rule_of(int64_t floor, int64_t reserve)
{
	return (struct fleet_rule) { .generation = 1,
		                     .capacity = 100000,
		                     .floor = floor,
		                     .probe = 10000,
		                     .hosts = 500,
		                     .leased = fleet_leased_part(floor, reserve),
		                     .lifetime = 8000 };
}

static struct policy file_of(int64_t reserve)
{
	return (struct policy) { .fleet_reserve = reserve,
		                 .fleet_n_max = 500,
		                 .probe = 10000 * NS_PER_MS };
}

Test(fleet_differs, a_file_that_says_the_same_however_the_share_is_rounded)
{
	for (int64_t floor = 1; floor <= FLEET_FLOOR_MOST; floor = floor * 3 + 1)
		for (int64_t reserve = 0; reserve <= floor; reserve += floor / 7 + 1) {
			const struct fleet_rule rule = rule_of(floor, reserve);
			const struct policy file = file_of(reserve);

			cr_assert_not(fleet_differs(&rule, &file, keys), "%s at %ld of %ld", keys,
			              (long)reserve, (long)floor);
			cr_assert_str_eq(keys, "");
		}
}

Test(fleet_differs, each_key_by_its_name)
{
	const struct fleet_rule rule = rule_of(20000, 2000);
	struct policy file = file_of(2001);

	cr_assert(fleet_differs(&rule, &file, keys));
	cr_assert_str_eq(keys, "fleet_reserve");
	file = file_of(2000);
	file.fleet_n_max = 499;
	cr_assert(fleet_differs(&rule, &file, keys));
	cr_assert_str_eq(keys, "fleet_n_max");
	file = file_of(2000);
	file.probe -= NS_PER_MS;
	cr_assert(fleet_differs(&rule, &file, keys));
	cr_assert_str_eq(keys, "probe");
	file = (struct policy) { 0 };
	cr_assert(fleet_differs(&rule, &file, keys));
	cr_assert_str_eq(keys, "fleet_reserve,fleet_n_max,probe");
	cr_assert_lt(strlen(keys) + 1, FLEET_DIFFERS);
}

Test(fleet_differs, a_reserve_beyond_the_floor)
{
	const struct fleet_rule rule = rule_of(1000, 1000);
	const struct policy file = file_of(1001);

	cr_assert(fleet_differs(&rule, &file, keys));
	cr_assert_str_eq(keys, "fleet_reserve");
}

Test(fleet_differs, nothing_where_there_is_no_rule)
{
	const struct fleet_rule rule = { 0 };
	const struct policy file = file_of(2000);

	cr_assert_not(fleet_differs(&rule, &file, keys));
	cr_assert_str_eq(keys, "");
}
