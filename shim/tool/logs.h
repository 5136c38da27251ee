/* SPDX-License-Identifier: MIT */
/* Records that were logged, on their way from a file, a pipe or the journal to sums and findings.
 * Whoever may write to the log has written them: nothing of a line is trusted. */
#ifndef RETRYBUDGET_TOOL_LOGS_H
#define RETRYBUDGET_TOOL_LOGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define US_PER_S INT64_C(1000000)

/* One record. What it has no field for is 0 or "". Texts are printable ASCII whatever was logged.
 */
struct log_entry {
	int64_t when; /* µs since 1970; 0: the line has no time */
	int64_t pid;
	char event[24], program[44], destination[268], policy[72], class[16], why[24];
	char error[24]; /* of errno= or eai= */
	char site[800];
	int64_t retry, attempts, throttled, refused, parked, held, waited_ms, since_ms;
};

/* Reads a line of syslog, of the journal or of stderr. False: it is not a record of the library.
 * now: for the year, which old time stamps lack. */
bool log_entry_read(const char *line, size_t n, time_t now, struct log_entry *entry);

/* A moment as --since takes it: "2h", "yesterday", "12:30", "2026-11-23 12:30". */
bool log_moment(const char *text, time_t now, int64_t *when);

/* The stamp at the beginning of a line, and where what follows it begins; 0: none. */
size_t log_stamp(const char *line, time_t now, int64_t *when);

/* "2026-11-23 12:30:00" in local time; lasts until the next call. */
const char *log_time_text(int64_t when);

/* What was logged of one destination, program, call site or hour. */
struct log_row {
	char *key;
	int64_t records, attempts, throttled, would, refused, parked, held, waited_ms;
	int64_t exhausted, recovered;
};

enum log_table {
	BY_DESTINATION,
	BY_PROGRAM,
	BY_SITE,
	BY_HOUR,
	LOG_TABLES,
};

struct log_rows {
	struct log_row **rows;
	size_t count;
	void *tree;
};

#define LOOP_PROCESSES 8 /* whose streaks are told apart at a time */

/* A program that retries one destination. */
struct log_loop {
	struct log_row row; /* the key: program, a NUL, destination */
	const char *program, *destination;
	char site[800], error[24], class[16];
	int64_t in_a_row; /* retries, the most of a streak; those that were throttled, too */
	int64_t permanent;
	int64_t tries, own_ms; /* those whose time is known, and the time less what it was held */
	struct {
		int64_t pid, since_ms, denied; /* of its streak */
	} processes[LOOP_PROCESSES];
	size_t next_process;
	unsigned told; /* findings that --follow has printed */
};

struct log_sums {
	int64_t records, not_understood, first, last;
	struct log_rows tables[LOG_TABLES];
	struct log_loop **loops;
	size_t loop_count;
	void *loop_tree;
};

/* The loop that the record belongs to, or NULL. */
struct log_loop *log_sum(struct log_sums *sums, const struct log_entry *entry);
void log_sums_sort(struct log_sums *sums);
void log_sums_free(struct log_sums *sums);

enum log_finding_kind {
	FINDING_NO_PAUSE,
	FINDING_EVERY,
	FINDING_NO_CAP,
	FINDING_PERMANENT,
	LOG_FINDINGS,
};

struct log_finding {
	enum log_finding_kind kind;
	const char *name; /* "no-pause" */
	char text[120];
};

/* What is wrong with a loop, as far as the records tell. */
size_t log_findings(const struct log_loop *loop, struct log_finding out[LOG_FINDINGS]);

/* The function of the innermost frame of site= that a file with symbols has, in these directories,
 * PATH and those of libraries; "" where none has it but those that call main or start a thread. It
 * lasts until the next call. */
const char *log_site_name(const char *site, const char *directory);

/* As --by takes them. */
extern const char *const log_table_names[LOG_TABLES];

#endif
