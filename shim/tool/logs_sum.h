/* SPDX-License-Identifier: MIT */
/* Records on their way to sums. */
#ifndef RETRYBUDGET_TOOL_LOGS_SUM_H
#define RETRYBUDGET_TOOL_LOGS_SUM_H

#include "tool/logs_entry.h"

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

/* As --by takes them. */
extern const char *const log_table_names[LOG_TABLES];

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

/* Adds a record. Returns the loop that it belongs to, or NULL. */
struct log_loop *log_sum(struct log_sums *sums, const struct log_entry *entry);

/* Puts rows and loops in the order in which they are printed. */
void log_sums_sort(struct log_sums *sums);
void log_sums_free(struct log_sums *sums);

#endif
