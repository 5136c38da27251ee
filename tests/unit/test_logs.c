/* SPDX-License-Identifier: MIT */
/* retrybudget logs: what is a record and what only looks like one, and moments. */
#include "tool/logs_entry.c"
#include "tool/logs_lines.c"
#include "tool/logs_time.c"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1795482000 /* 2026-11-24 01:00:00 UTC */

static void in_utc(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
}

TestSuite(logs, .init = in_utc);

static struct log_entry entry;

static bool is_record(const char *line)
{
	return log_entry_read(line, strlen(line), NOW, &entry);
}

Test(logs, a_record_whoever_has_written_its_header)
{
	static const struct {
		const char *line;
		int64_t when, pid;
	} lines[] = {
		{ "event=retrying prog=a dest=db:1 retry=3", 0, 0 },
		{ "retrybudget[12]: event=retrying prog=a dest=db:1 retry=3", 0, 12 },
		{ "Nov 23 23:30:00 host retrybudget[12]: event=retrying prog=a dest=db:1 retry=3",
		  INT64_C(1795476600000000), 12 },
		{ "2026-11-24T00:30:00.25+01:00 host retrybudget[7]: event=retrying prog=a "
		  "dest=db:1 retry=3\r\n",
		  INT64_C(1795476600250000), 7 },
		{ "Dec  1 00:00:00 host retrybudget[1]: event=retrying prog=a dest=db:1 retry=3",
		  INT64_C(1764547200000000), 1 }, /* of the year before */
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		cr_assert(is_record(lines[i].line), "%s", lines[i].line);
		cr_assert_eq(entry.when, lines[i].when, "%s: %lld", lines[i].line,
		             (long long)entry.when);
		cr_assert_eq(entry.pid, lines[i].pid);
		cr_assert_str_eq(entry.program, "a");
		cr_assert_str_eq(entry.destination, "db:1");
		cr_assert_eq(entry.retry, 3);
	}
}

Test(logs, what_only_looks_like_a_record)
{
	static const char *const lines[] = {
		"",
		" ",
		"event=",
		"event",
		"retrybudget[12]: ",
		"retrybudget[x]: event=retrying",
		"retrybudget[]: event=retrying",
		"retrybudget[12]: prog=a event",
		"Nov 23 23:30:00 host other[1]: retrybudget[12]: event=throttled attempts=9",
		"Nov 23 23:30:00 host other: said retrybudget[12]: event=throttled attempts=9",
		"retrybudget[12]: event=throttled event=recovered",
		"retrybudget[12]: event=throttled attempts=-1",
		"retrybudget[12]: event=throttled attempts=9999999999999999999999",
		"retrybudget[12]: event=throttled attempts=",
		"retrybudget[12]: event=throttled msg=\"no end",
		"retrybudget[12]: event=throttled msg=\"ended\"and=more",
		"retrybudget[12]: event=throttled  attempts=1",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		cr_assert_not(is_record(lines[i]), "%s", lines[i]);
	cr_assert_not(log_entry_read("event=a\0b=c", 11, NOW, &entry));
}

Test(logs, a_quoted_value_forges_no_field)
{
	cr_assert(
	    is_record("retrybudget[1]: event=throttled prog=\"x attempts=5 \\\" held=6\" held=7"));
	cr_assert_eq(entry.attempts, 0);
	cr_assert_eq(entry.held, 7);
}

Test(logs, control_bytes_and_long_values_are_tamed)
{
	static char line[2000];

	cr_assert(is_record("event=retrying prog=\"a\033[2Jb\xff\" dest=d:1"));
	cr_assert_str_eq(entry.program, "a?[2Jb?");
	(void)snprintf(line, sizeof(line), "event=retrying dest=%01500d", 0);
	cr_assert(is_record(line));
	cr_assert_eq(strlen(entry.destination), sizeof(entry.destination) - 1);
}

Test(logs, every_prefix_of_a_record_is_read_without_harm)
{
	static const char line[] = "2026-11-24T00:30:00.25+01:00 host retrybudget[7]: "
				   "event=throttled prog=\"o d\" dest=db:1 "
				   "attempts=412 site=a+0x1,b+0x2";

	for (size_t n = 0; n < sizeof(line); n++) {
		char *exact = malloc(n + 1);

		memcpy(exact, line, n);
		(void)log_entry_read(exact, n, NOW, &entry);
		free(exact);
	}
}

static int lines_taken;
static size_t bytes_taken;

static void note(void *arg, const char *line, size_t n)
{
	(void)arg;
	(void)line;
	lines_taken++;
	bytes_taken += n;
}

Test(logs, lines_in_any_pieces_and_one_that_never_ends)
{
	static struct log_lines lines;
	static char long_one[3 * LOG_LINE_MAX];

	for (const char *at = "one\n\ntwo\nthr"; *at; at++)
		log_lines_feed(&lines, at, 1, note, NULL);
	cr_assert_eq(lines_taken, 3);
	cr_assert_eq(bytes_taken, 6);
	log_lines_feed(&lines, "ee\n", 3, note, NULL);
	cr_assert_eq(bytes_taken, 11);
	memset(long_one, 'x', sizeof(long_one));
	log_lines_feed(&lines, long_one, sizeof(long_one), note, NULL);
	log_lines_feed(&lines, "\nafter\n", 7, note, NULL);
	cr_assert_eq(lines.dropped, 1);
	cr_assert_eq(lines_taken, 5);
	cr_assert_eq(bytes_taken, 16);
}

Test(logs, moments)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} moments[] = {
		{ "30s", NOW - 30 },
		{ "2h", NOW - 7200 },
		{ "1d", NOW - 86400 },
		{ "today", 1795478400 },
		{ "yesterday", 1795392000 },
		{ "00:30", 1795480200 },
		{ "2026-11-23", 1795392000 },
		{ "2026-11-23 12:00", 1795435200 },
		{ "2026-11-23T12:00:01", 1795435201 },
	};
	int64_t when;

	for (size_t i = 0; i < sizeof(moments) / sizeof(*moments); i++) {
		cr_assert(log_moment(moments[i].text, NOW, &when), "%s", moments[i].text);
		cr_assert_eq(when, moments[i].seconds * US_PER_S, "%s: %lld", moments[i].text,
		             (long long)when);
	}
	cr_assert_not(log_moment("", NOW, &when));
	cr_assert_not(log_moment("2", NOW, &when));
	cr_assert_not(log_moment("2x", NOW, &when));
	cr_assert_not(log_moment("9999999999h", NOW, &when));
	cr_assert_not(log_moment("2026-11-23 12:00 or so", NOW, &when));
}
