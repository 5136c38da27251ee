/* SPDX-License-Identifier: MIT */
/* retrybudget logs: what records say in sum, and of a loop. */
#include "tool/logs_findings.c"
#include "tool/logs_sum.c"

#include <criterion/criterion.h>

#define NOW 1795482000 /* 2026-11-24 01:00:00 UTC */

static void in_utc(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
}

TestSuite(logs_sum, .init = in_utc);

static struct log_entry entry;

static bool is_record(const char *line)
{
	return log_entry_read(line, strlen(line), NOW, &entry);
}

static struct log_sums sums;

static struct log_loop *sum_line(const char *line)
{
	cr_assert(is_record(line), "%s", line);
	return log_sum(&sums, &entry);
}

static bool finds(const struct log_loop *loop, enum log_finding_kind kind)
{
	struct log_finding findings[LOG_FINDINGS];
	size_t count = log_findings(loop, findings);

	for (size_t i = 0; i < count; i++)
		if (findings[i].kind == kind)
			return true;
	return false;
}

Test(logs_sum, a_loop_without_pause_although_it_was_held)
{
	struct log_loop *loop;

	loop = sum_line("retrybudget[1]: event=throttled prog=a dest=d:1 retry=1 attempts=10 "
	                "throttled=9 refused=9 held=9 waited_ms=990 since_ms=1000");
	cr_assert_eq(loop->tries, 10);
	cr_assert_eq(loop->own_ms, 10);
	loop = sum_line("retrybudget[1]: event=throttled prog=a dest=d:1 retry=2 attempts=30 "
	                "throttled=30 refused=30 held=30 waited_ms=2980 since_ms=4000");
	cr_assert_eq(loop->tries, 40);
	cr_assert_eq(loop->own_ms, 30, "only what is new of the streak");
	cr_assert(finds(loop, FINDING_NO_PAUSE));
	cr_assert_not(finds(loop, FINDING_EVERY));
	cr_assert(finds(loop, FINDING_NO_CAP));
	cr_assert_eq(loop->in_a_row, 41, "what went and what was throttled");
	cr_assert_not(finds(loop, FINDING_PERMANENT));
	log_sums_free(&sums);
}

Test(logs_sum, a_loop_with_a_pause_in_several_processes_and_streaks)
{
	struct log_loop *loop = NULL;

	for (int i = 0; i < 4; i++) {
		(void)sum_line("retrybudget[1]: event=throttled prog=a dest=d:1 retry=4 attempts=4 "
		               "throttled=1 since_ms=1000");
		(void)sum_line("retrybudget[2]: event=throttled prog=a dest=d:1 retry=4 attempts=4 "
		               "throttled=1 since_ms=1000");
		(void)sum_line("retrybudget[2]: event=recovered prog=a dest=d:1 since_ms=1100 "
		               "attempts=1");
		loop = sum_line("retrybudget[1]: event=recovered prog=a dest=d:1 since_ms=1100 "
		                "attempts=1");
	}
	cr_assert_eq(loop->tries, 40);
	cr_assert_eq(loop->own_ms, 8800);
	cr_assert(finds(loop, FINDING_EVERY));
	cr_assert_not(finds(loop, FINDING_NO_PAUSE));
	cr_assert_not(finds(loop, FINDING_NO_CAP));
	cr_assert_eq(loop->row.recovered, 8);
	log_sums_free(&sums);
}

/* The log was rotated, or --since cut it: that record's attempts are not all of its time. */
Test(logs_sum, records_from_the_middle_of_an_outage_tell_no_pace)
{
	struct log_loop *loop =
	    sum_line("retrybudget[1]: event=throttled prog=a dest=d:1 retry=4 attempts=100 "
	             "throttled=100 refused=100 since_ms=600000");

	cr_assert_eq(loop->tries, 0);
	cr_assert_not(finds(loop, FINDING_EVERY));
	loop = sum_line("retrybudget[1]: event=throttled prog=a dest=d:1 retry=4 attempts=100 "
	                "throttled=100 refused=100 since_ms=610000");
	cr_assert_eq(loop->tries, 100);
	cr_assert_eq(loop->own_ms, 10000);
	log_sums_free(&sums);
}

Test(logs_sum, a_second_for_each_that_was_parked_was_none_of_its_own)
{
	struct log_loop *loop =
	    sum_line("retrybudget[1]: event=throttled prog=a dest=d:1 attempts=1 throttled=1 "
	             "parked=1 since_ms=900");

	loop = sum_line("retrybudget[1]: event=throttled prog=a dest=d:1 attempts=10 throttled=10 "
	                "parked=10 since_ms=10950");
	cr_assert_eq(loop->own_ms, 50);
	cr_assert(finds(loop, FINDING_NO_PAUSE));
	log_sums_free(&sums);
}

Test(logs_sum, who_was_held_and_then_went_counts_once)
{
	struct log_loop *loop =
	    sum_line("retrybudget[1]: event=throttled prog=a dest=d:1 retry=20 attempts=21 "
	             "throttled=20 held=20 waited_ms=20 since_ms=900");

	cr_assert_eq(loop->in_a_row, 20);
	log_sums_free(&sums);
}

Test(logs_sum, a_permanent_error_that_is_retried)
{
	struct log_loop *loop =
	    sum_line("event=retrying prog=a dest=d retry=1 class=lookup eai=EAI_NONAME");

	cr_assert(finds(loop, FINDING_PERMANENT));
	loop = sum_line("event=retrying prog=b dest=d retry=1 class=refused errno=ECONNREFUSED");
	cr_assert_not(finds(loop, FINDING_PERMANENT));
	loop = sum_line("event=attempt prog=c dest=d kind=first errno=EACCES");
	cr_assert_not(finds(loop, FINDING_PERMANENT), "a first try is none");
	log_sums_free(&sums);
}

Test(logs_sum, sums_by_each_word_that_never_run_over)
{
	char line[200];

	for (int i = 0; i < 20; i++)
		(void)sum_line(
		    "Nov 23 23:30:00 host retrybudget[1]: event=throttled prog=a dest=d:1 "
		    "attempts=999999999999999999 throttled=2 refused=2 site=a+0x1");
	(void)sum_line("Nov 24 00:30:00 host retrybudget[1]: event=would-throttle prog=b dest=d:1 "
	               "throttled=5");
	log_sums_sort(&sums);
	cr_assert_eq(sums.tables[BY_DESTINATION].count, 1);
	cr_assert_eq(sums.tables[BY_DESTINATION].rows[0]->attempts, INT64_MAX);
	cr_assert_eq(sums.tables[BY_DESTINATION].rows[0]->throttled, 40);
	cr_assert_eq(sums.tables[BY_DESTINATION].rows[0]->would, 5);
	cr_assert_eq(sums.tables[BY_PROGRAM].count, 2);
	cr_assert_str_eq(sums.tables[BY_PROGRAM].rows[0]->key, "a");
	cr_assert_eq(sums.tables[BY_SITE].count, 1);
	cr_assert_eq(sums.tables[BY_HOUR].count, 2);
	cr_assert_str_eq(sums.tables[BY_HOUR].rows[0]->key, "2026-11-23 23:00");
	log_sums_free(&sums);
	for (int i = 0; i < 10000; i++) {
		(void)snprintf(line, sizeof(line), "event=retrying prog=p dest=d%d", i);
		(void)sum_line(line);
	}
	cr_assert_lt(sums.tables[BY_DESTINATION].count, 5000);
	cr_assert_lt(sums.loop_count, 5000);
	log_sums_sort(&sums);
	cr_assert_eq(sums.records, 10000);
	log_sums_free(&sums);
}
