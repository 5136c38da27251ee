/* SPDX-License-Identifier: MIT */
/* What `retrybudget top` shows: rows that are kept from one look to the next, so that it can tell
 * what has changed. One list, whether it goes to a screen or is printed. */
#ifndef RETRYBUDGET_TOOL_TOP_ROWS_H
#define RETRYBUDGET_TOOL_TOP_ROWS_H

#include "tool/columns.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TOP_HISTORY COLUMN_HISTORY /* looks that a sparkline shows */
#define TOP_GONE    10             /* looks that a process is shown after its end */

/* A family of processes: the region, or a process that has none of its own. */
struct top_key {
	uint64_t inode;
	unsigned int major, minor;
	pid_t pid; /* 0 with a region */
};

struct top_row {
	struct top_key key;
	char *name;                  /* of the destination; "(all)": of its process */
	pid_t pid;                   /* who can be asked */
	char cells[COLUMNS_ALL][32]; /* of columns that are words */
	int64_t values[COLUMNS_ALL]; /* of columns that are numbers; TOKENS: mt, INT64_MAX = full */
	int64_t history[TOP_HISTORY]; /* throttled, since the last look at the end */
	int looks;                    /* how many of them there are */
	int gone;                     /* looks since its process ended, 0 = it lives */
	bool readable;                /* else the name is why not */
};

/* All of one destination at the last look, for the drill-down. */
struct top_detail {
	bool found;
	struct top_key key; /* that is wanted; its name: */
	char *name;
	char *text; /* in lines, what stat prints of it and more */
	int64_t at; /* ns, CLOCK_MONOTONIC */
};

struct top {
	bool processes; /* a row each, not for each destination */
	enum column sort;
	bool reversed;
	struct top_row *rows;
	size_t count;
	size_t regions, ended, unreadable;
	const char *wanted; /* destination or program alone, or NULL */
	struct top_detail detail;
};

/* Looks at all processes. early: a look in between, which begins no new point of the sparklines,
 * for each is of as much time as the others. False with errno if that cannot be done; what was
 * known stays. */
bool top_look(struct top *top, bool early);

/* Puts the rows in order. */
void top_sort(struct top *top);

/* Gives up all rows. */
void top_free(struct top *top);

/* True if this is the row of that name, of that family. */
bool top_same(const struct top_row *row, const struct top_key *key, const char *name);

#endif
