/* SPDX-License-Identifier: MIT */
/* Expectations: read, and whether anything can come of them. */
#include "tool/sim_expect.h"

#include "config/value.h"
#include "tool/sim_tally.h"

#include <stdlib.h>
#include <string.h>

/* "4.00 1%", "< 3", "> 5". */
static bool read_expectation(const char *text, struct sim_expectation *one)
{
	char *end;

	one->kind = *text == '<' || *text == '>' ? *text++ : '=';
	one->value = strtod(text, &end);
	if (end == text)
		return false;
	text = end + strspn(end, " \t");
	if (one->kind != '=')
		return !*text;
	one->tolerance = strtod(text, &end) / 100;
	return end != text && strcmp(end, "%") == 0 && one->tolerance >= 0;
}

bool sim_expect_put(struct sim_file *file, const char *variant, const char *metric,
                    const char *value, int line, struct text *why)
{
	struct sim_expectation *one = &file->expectations[file->expectation_count];

	if (file->expectation_count == SIM_EXPECTATIONS) {
		text_string(why, "more than 64 numbers are expected; leave some out");
		return false;
	}
	if (!read_expectation(value, one)) {
		text_string(why, "expected a number and a tolerance, as in '4.00 1%', or '< 3' or "
		                 "'> 3', not ");
		text_quoted(why, value, strlen(value));
		return false;
	}
	snprintf(one->variant, sizeof(one->variant), "%s", variant);
	snprintf(one->metric, sizeof(one->metric), "%s", metric);
	one->line = line;
	file->expectation_count++;
	return true;
}

/* Without a variant these two are played. */
static bool is_played(const struct sim_file *file, const char *variant)
{
	if (file->variant_count == 0)
		return strcmp(variant, "bare") == 0 || strcmp(variant, "library") == 0;
	for (int i = 0; i < file->variant_count; i++)
		if (strcmp(file->variants[i].name, variant) == 0)
			return true;
	return false;
}

bool sim_expect_fits(const struct sim_file *file, const struct sim_expectation *one,
                     struct text *why)
{
	if (sim_metric_named(one->metric) == SIM_METRICS) {
		text_string(why, "no number ");
		text_quoted(why, one->metric, strlen(one->metric));
		text_string(why, " comes out; 'retrybudget simulate --keys' lists them");
		return false;
	}
	if (is_played(file, one->variant))
		return true;
	text_string(why, "no [variant ");
	text_string(why, one->variant);
	text_string(why, file->variant_count ? "]; add it, or correct the name"
	                                     : "], and without any there are "
	                                       "bare and library; correct the name");
	return false;
}
