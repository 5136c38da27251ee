/* SPDX-License-Identifier: MIT */
/* Columns by what they tell: where there is no room the one that tells least goes first. */
#include "tool/columns.h"

#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NAME_LEAST 20

/* drop: where there is no room the lowest goes first; 0 never. */
static const struct shape {
	const char *heading;
	int width, drop;
	bool left;
} shapes[COLUMNS_ALL] = {
	[COLUMN_PID] = { "PID", 10, 11, true },
	[COLUMN_PROGRAM] = { "PROGRAM", 15, 10, true },
	[COLUMN_MODE] = { "MODE", 8, 9, true },
	[COLUMN_DESTINATION] = { "DESTINATION", 30, 0, true },
	[COLUMN_ATTEMPTS] = { "ATTEMPTS", 9, 8, false },
	[COLUMN_RETRIES] = { "RETRIES", 8, 4, false },
	[COLUMN_ANSWERED] = { "ANSWERED", 9, 2, false },
	[COLUMN_FAILED] = { "FAILED", 8, 7, false },
	[COLUMN_REFUSED] = { "REFUSED", 8, 12, false },
	[COLUMN_HELD] = { "HELD", 7, 1, false },
	[COLUMN_TOKENS] = { "TOKENS", 9, 6, false },
	[COLUMN_STREAK] = { "STREAK", 7, 3, false },
	[COLUMN_LAST] = { "LAST", 12, 5, true },
	[COLUMN_THROTTLED] = { "THROTTLED", COLUMN_HISTORY, 0, true },
};

enum column column_named(const char *name)
{
	int column = 0;

	while (column < COLUMNS_ALL && strcasecmp(shapes[column].heading, name) != 0)
		column++;
	return (enum column)column;
}

const char *column_heading(enum column column)
{
	return shapes[column].heading;
}

struct columns columns_choose(int width, int count)
{
	struct columns columns = { .name = shapes[COLUMN_DESTINATION].width };
	int used = 0;

	for (int i = 0; i < count; i++) {
		columns.shown[i] = true;
		used += i == COLUMN_DESTINATION ? NAME_LEAST : shapes[i].width + 1;
	}
	if (width == 0)
		return columns;
	for (int drop = 1; drop <= COLUMNS_ALL && used > width; drop++)
		for (int i = 0; i < count; i++)
			if (shapes[i].drop == drop) {
				columns.shown[i] = false;
				used -= shapes[i].width + 1;
			}
	columns.name = NAME_LEAST + (width > used ? width - used : 0);
	return columns;
}

static void print_name(FILE *out, const char *name, int width)
{
	int n = (int)strlen(name), tail = (width - 1) / 2;

	if (n <= width)
		fprintf(out, "%-*s", width, name);
	else
		fprintf(out, "%.*s~%s", width - 1 - tail, name, name + n - tail);
}

void column_print(FILE *out, const struct columns *columns, enum column column, const char *text,
                  bool cut)
{
	int width = column == COLUMN_DESTINATION ? columns->name : shapes[column].width;

	if (column == COLUMN_DESTINATION && cut)
		print_name(out, text, width);
	else if (cut && (int)strlen(text) > width)
		fprintf(out, "%.*s~", width - 1, text);
	else if (shapes[column].left)
		fprintf(out, "%-*s", width, text);
	else
		fprintf(out, "%*s", width, text);
}

int columns_of_terminal(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
