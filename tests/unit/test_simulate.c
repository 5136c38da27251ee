/* SPDX-License-Identifier: MIT */
/*
 * retrybudget simulate: with --original each preset answers the traces of the published rules
 * (tests/unit/vectors) as those do; without, what is ours is in force, too.
 */
#include "tool/trace.c" /* test_config_run.c has tell() */

#include "config/presets.h"
#include "config_fixture.h"

TestSuite(simulate, .init = make_folder, .fini = remove_folder);

static struct simulation simulation;
static char answers[1 << 18];

/* Plays a trace to a section; all that is printed is left in `answers`. */
static bool play(const char *label, bool original, FILE *trace)
{
	FILE *out = fmemopen(answers, sizeof(answers), "w");
	int policy = policy_labelled(&config, label);
	bool good;

	cr_assert(trace && out);
	cr_assert_geq(policy, 0);
	start(&simulation, &config, policy, original);
	good = simulate(&simulation, trace, out);
	fclose(out);
	fclose(trace);
	return good;
}

static bool play_text(const char *label, bool original, const char *text)
{
	return play(label, original, fmemopen((void *)(uintptr_t)text, strlen(text), "r"));
}

/* The first question that is answered otherwise than the trace says, or NULL. */
static const char *difference(FILE *trace, int *questions)
{
	static char line[128];
	const char *at = answers;

	while (fgets(line, sizeof(line), trace)) {
		if (!strstr(line, " r ") && !strstr(line, " p "))
			continue;
		if (strncmp(at, line, strlen(line)) != 0)
			return line;
		at += strlen(line);
		++*questions;
	}
	return NULL;
}

Test(simulate, the_original_of_each_preset)
{
	static const char *const names[] = { "grpc",    "aws", "aws-2026", "finagle",
		                             "linkerd", "sre", "envoy",    "failsafe" };

	cr_assert_eq(sizeof(names) / sizeof(*names), PRESET_COUNT - 1, "every one but none");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char text[128], file[64];
		const char *other;
		int questions = 0;
		FILE *trace;

		/* What the section says itself would hold in force. */
		snprintf(text, sizeof(text),
		         "[destination default]\npreset = %s\nfloor = 9/s\nprobe = 1s\n", names[i]);
		cr_assert_eq(read_text(text), 0, "%s", said);
		snprintf(file, sizeof(file), "tests/unit/vectors/%s.txt", names[i]);
		cr_expect(play("default", true, fopen(file, "r")));
		trace = fopen(file, "r");
		other = difference(trace, &questions);
		fclose(trace);
		cr_expect_null(other, "%s: %s", names[i], other ? other : "");
		cr_expect_gt(questions, 200, "%s", names[i]);
	}
}

#define STORM                                                                                      \
	"0 n\n1 f\n1 r\n2 f\n2 r\n3 f\n3 r\n4 f\n4 r\n5 t\n5 r\n"                                  \
	"5000 r\n"

/* Two tokens and, after a second without anything, the probe. */
Test(simulate, what_is_ours)
{
	cr_assert_eq(read_text("[destination default]\ncapacity = 5\n[destination a]\n"
	                       "match = a.test\ncapacity = 2\nfloor = 0\nprobe = 1s\n"),
	             0);
	cr_expect(play_text("a", false, STORM));
	cr_expect_str_eq(answers, "1 r 1\n2 r 1\n3 r 0\n4 r 0\n5 r 0\n5000 r 1\n"
	                          "# 3 of 6 retries went\n");
	cr_expect(play_text("a", true, STORM));
	cr_expect_str_eq(answers, "1 r 1\n2 r 1\n3 r 0\n4 r 0\n5 r 0\n5000 r 0\n"
	                          "# 2 of 6 retries went\n");
	cr_expect(play_text("default", true, STORM));
	cr_expect_str_eq(answers, "1 r 1\n2 r 1\n3 r 1\n4 r 1\n5 r 1\n5000 r 0\n"
	                          "# 5 of 6 retries went\n");
}

Test(simulate, the_process_wide_bucket_is_asked)
{
	cr_assert_eq(read_text("[budget]\ncapacity = 1\nfloor = 0\n"), 0);
	cr_expect(play_text("default", false, STORM));
	cr_expect(strstr(answers, "# 1 of 6 retries went\n"), "%s", answers);
}

Test(simulate, what_is_no_trace)
{
	static const char *const bad[] = { "n\n",      "1\n",    "1 q\n",
		                           "-1 n\n",   "1 nn\n", "1 r x\n",
		                           "1 e -1\n", "x\n",    "9999999999999 n\n" };

	cr_assert_eq(read_text(""), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		cr_expect_not(play_text("default", false, bad[i]), "%s", bad[i]);
	cr_expect(play_text("default", false, "# a remark\n\n7 p\n8\tp 3"));
	cr_expect_str_eq(answers, "7 p 10000\n8 p 10000\n# 0 of 0 retries went\n");
	cr_expect_eq(policy_labelled(&config, "other"), -1);
}
