/* SPDX-License-Identifier: MIT */
/* Refusals of a thread in a row, with no pause in between. Pure, for the simulator too; times in
 * ns. */
#ifndef RETRYBUDGET_DEST_TRIES_ROW_H
#define RETRYBUDGET_DEST_TRIES_ROW_H

#include "sys/arithmetic.h"

/* What a thread may do between two of them and spin still, and the pause that ends a row. */
#define TRIES_SPIN  NS_PER_MS
#define TRIES_PAUSE (15 * NS_PER_MS)

/* A refusal at `now`: one more of the *row whose last was at *row_at, or the first of another.
 * Returns the ns between both. */
static inline int64_t tries_row_refused(int16_t *row, int64_t *row_at, int64_t now)
{
	int64_t own = now - *row_at;

	if (own > TRIES_PAUSE)
		*row = 0;
	*row_at = now;
	if (*row < INT16_MAX)
		++*row;
	return own;
}

#endif
