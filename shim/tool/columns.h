/* SPDX-License-Identifier: MIT */
/* The columns of `retrybudget stat` and `top`, and which of them fit a terminal. */
#ifndef RETRYBUDGET_TOOL_COLUMNS_H
#define RETRYBUDGET_TOOL_COLUMNS_H

#include <stdbool.h>
#include <stdio.h>

#define COLUMN_HISTORY 12 /* cells of a sparkline */

enum column {
	COLUMN_PID,
	COLUMN_PROGRAM,
	COLUMN_MODE,
	COLUMN_DESTINATION,
	COLUMN_ATTEMPTS,
	COLUMN_RETRIES,
	COLUMN_ANSWERED,
	COLUMN_FAILED,
	COLUMN_REFUSED,
	COLUMN_HELD,
	COLUMN_TOKENS,
	COLUMN_STREAK,
	COLUMN_LAST,
	COLUMN_THROTTLED, /* refused and held since the look before, as a sparkline */
	COLUMNS_ALL,
};

struct columns {
	bool shown[COLUMNS_ALL];
	int name; /* cells of the destination */
};

/* Those of the first `count` that fit into so many cells; 0: all of them. */
struct columns columns_choose(int width, int count);

/* Column by its heading in any case, or COLUMNS_ALL. */
enum column column_named(const char *name);
const char *column_heading(enum column column);

/* One cell, without the space before it. cut: what is too long loses its end, a name its middle,
 * as the port at its end tells most. */
void column_print(FILE *out, const struct columns *columns, enum column column, const char *text,
                  bool cut);

/* Cells of the terminal that stdout is; 0: it is none. */
int columns_of_terminal(void);

#endif
