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

static inline int64_t stat_sum(const cell64 *cells, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(sum, LOAD(cells[i]), &sum))
			return INT64_MAX;
	return sum;
}

#endif
