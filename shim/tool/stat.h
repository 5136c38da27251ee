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

/* Leaves of a family what a word asks for, a program or a destination; false: nothing. */
bool stat_choose(const char *wanted, const struct family *family, struct snapshot *snapshot);

/* A time between two looks: false if it is none. */
bool stat_seconds(const char *text, double *seconds);
void stat_pause(double seconds);

static inline int64_t stat_sum(const cell64 *cells, size_t n)
{
	int64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		add_to(&sum, LOAD(cells[i]));
	return sum;
}

#endif
