/* SPDX-License-Identifier: MIT */
/* What `retrybudget stat` found, on its way to a table or to JSON: one region at a time, so that a
 * machine of any size takes no more memory than one. */
#ifndef RETRYBUDGET_TOOL_STAT_H
#define RETRYBUDGET_TOOL_STAT_H

#include "tool/family.h"

#include <stdio.h>

struct printer {
	void (*begin)(void);
	void (*family)(const struct family *family);
	void (*end)(size_t unreadable);
};

/* Without jansson the second has no functions. */
extern const struct printer stat_table, stat_json;

/* Tokens of a bucket in mt as they were last left, and their most; false: nothing was ever taken.
 */
bool stat_tokens(const struct bucket *bucket, int64_t *tokens, int64_t *capacity);

/* A number from 0 on as a word of a table like "enforce"; NULL if it is none of it. */
const char *stat_mode(int64_t mode);
const char *stat_scope(int64_t scope);

/* The mode that `retrybudget set` has asked for, or NULL; and how many of the processes have not
 * taken what was asked of them last. */
const char *stat_set(const struct family *family, size_t *pending);

/* Leaves of a family what a word asks for, a program or a destination; false: nothing. */
bool stat_choose(const char *wanted, const struct family *family, struct snapshot *snapshot);

/* A time between two looks: false if it is none. */
bool stat_seconds(const char *text, double *seconds);
void stat_pause(double seconds);

/* Cells of a table: each text lasts until the next call. */
const char *stat_pids(const struct family *family);    /* "4711+3": three more share the region */
const char *stat_mode_of(const struct family *family); /* "off*": an operator has set it */
const char *stat_level(const struct bucket *bucket);   /* "9.3/10", or "full" */
const char *stat_last(const struct destination *destination); /* class of the last failure */

/* The budget of a destination: that level, or "2.0/5" of its lease, or "reserve" without one. */
const char *stat_budget(const struct destination *destination);

/* False: it never drew on a fleet's budget. */
bool stat_is_leased(const struct destination *destination);

/* Its lease as the library reads it. Returns the moment now, CLOCK_BOOTTIME, ns. */
int64_t stat_lease(const struct destination *destination, struct lease_view *view);

/* A line about it, where it draws on a fleet's budget. */
void stat_print_lease(FILE *out, const struct destination *destination);

/* Every counter of a destination in some lines, its name before them. */
void stat_print_tally(FILE *out, const char *name, const struct tally *tally);

/* Version, configuration and mode of a family, in some lines. */
void stat_print_identity(FILE *out, const struct family *family);

static inline int64_t stat_sum(const cell64 *cells, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, LOAD(cells[i]), &sum))
			return INT64_MAX;
	return sum;
}

#endif
