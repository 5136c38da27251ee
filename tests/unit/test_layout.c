/* SPDX-License-Identifier: MIT */
/*
 * What stands where in the region, and what its numbers mean, goes with REGION_LAYOUT: two versions
 * of the library that have the same letter share a region.
 */
#include "dest/rules.h"
#include "region/region.h"
#include "report/record.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define REMEDY                                                                                     \
	"raise REGION_LAYOUT (shim/region/region.h) to the next letter, and write that letter, "   \
	"and what stands there now, on top of tests/unit/test_layout.c"

/* Who changes one of these changes the letter too, or programs of two versions that share a region
 * count under each other's names, or write over each other. */
#define LAYOUT            'P'
#define REGION_BYTES      2618688
#define DESTINATION_BYTES 5056
#define RULES                                                                                      \
	"quiet demand invited kept same-request other-request stranger lineage same-command "      \
	"other-command sweep other-work denied mixed asked again loop unclear"
#define FAILURES "refused unreachable timeout reset dropped local lookup status"

static const char *rule_at(size_t i)
{
	return rules[i].name;
}

static const char *failure_at(size_t i)
{
	return failure_name((enum failure)(i + 1)); /* 0 is none */
}

static void expect_names(const char *what, const char *(*name)(size_t), size_t count,
                         const char *wanted)
{
	char names[512] = "";

	for (size_t i = 0; i < count; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? " " : "",
		         name(i));
	cr_expect_str_eq(names, wanted,
	                 "%s are counted by their place, and now stand as \"%s\", where layout "
	                 "'%c' has \"%s\": " REMEDY,
	                 what, names, LAYOUT, wanted);
}

Test(layout, means_the_same_in_all_that_have_its_letter)
{
	cr_expect_eq(REGION_LAYOUT, LAYOUT, "the layout is '%c' now, and not '%c': " REMEDY,
	             REGION_LAYOUT, LAYOUT);
	cr_expect_eq(sizeof(struct region), REGION_BYTES, "a region is of %zu bytes: " REMEDY,
	             sizeof(struct region));
	cr_expect_eq(sizeof(struct destination), DESTINATION_BYTES,
	             "a destination is of %zu bytes: " REMEDY, sizeof(struct destination));
	expect_names("rules", rule_at, rule_count, RULES);
	expect_names("failures", failure_at, FAILURE_COUNT - 1, FAILURES);
}
