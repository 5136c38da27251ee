/* SPDX-License-Identifier: MIT */
/* `retrybudget stat` for people: a row for each destination of each process. */
#include "tool/stat_table.h"

#include "sys/arithmetic.h"
#include "tool/columns.h"
#include "tool/stat_lease.h"
#include "tool/stat_text.h"

#include <inttypes.h>

static size_t rows;
static int width; /* of the terminal; 0: there is none, and all is printed in full */
static struct columns columns;

static void begin(void)
{
	rows = 0;
	width = columns_of_terminal();
	columns = columns_choose(width, COLUMN_THROTTLED);
}

/* Cells in the order of the columns; those that are NULL and all after them are left out. */
static void print_cells(const char *const cells[COLUMN_THROTTLED])
{
	bool first = true;

	for (int i = 0; i < COLUMN_THROTTLED && cells[i]; i++) {
		if (!columns.shown[i])
			continue;
		if (!first)
			putchar(' ');
		first = false;
		if (i == COLUMN_LAST)
			fputs(cells[i], stdout);
		else
			column_print(stdout, &columns, (enum column)i, cells[i], width != 0);
	}
	putchar('\n');
}

static void print_head(void)
{
	const char *cells[COLUMN_THROTTLED];

	for (int i = 0; i < COLUMN_THROTTLED; i++)
		cells[i] = column_heading((enum column)i);
	if (rows++ == 0)
		print_cells(cells);
}

static const char *number(enum column column, int64_t value)
{
	static char texts[COLUMN_THROTTLED][24];

	(void)snprintf(texts[column], sizeof(texts[column]), "%" PRId64, value);
	return texts[column];
}

static void print_row(const struct family *family, const char *name, const struct tally *tally,
                      const struct bucket *bucket, const struct destination *destination)
{
	const char *cells[COLUMN_THROTTLED] = {
		[COLUMN_PID] = stat_pids(family),
		[COLUMN_PROGRAM] = family_program(family),
		[COLUMN_MODE] = stat_mode_of(family),
		[COLUMN_DESTINATION] = name,
		[COLUMN_ATTEMPTS] = number(COLUMN_ATTEMPTS, LOAD(tally->attempts)),
		[COLUMN_RETRIES] = number(COLUMN_RETRIES, LOAD(tally->retries)),
		[COLUMN_ANSWERED] = number(COLUMN_ANSWERED, stat_sum(tally->answered, 2)),
		[COLUMN_FAILED] = number(COLUMN_FAILED, stat_sum(tally->failed, 2)),
		[COLUMN_REFUSED] = number(COLUMN_REFUSED, LOAD(tally->refused)),
		[COLUMN_HELD] = number(COLUMN_HELD, LOAD(tally->held)),
		[COLUMN_TOKENS] = destination ? stat_budget(destination) : stat_level(bucket),
	};

	print_head();
	if (destination) {
		cells[COLUMN_STREAK] =
		    number(COLUMN_STREAK, greater(LOAD(destination->budget.streak), 0));
		cells[COLUMN_LAST] = stat_last(destination);
	}
	print_cells(cells);
}

static void print_family(const struct family *family)
{
	const struct snapshot *snapshot = family->snapshot;
	const struct region *region = snapshot->region;

	if (snapshot->state != SNAPSHOT_GOOD) {
		print_head();
		printf("%-10s %-15s %s\n", stat_pids(family), family_program(family),
		       snapshot_sentence(snapshot));
		return;
	}
	if (family->whole) {
		stat_print_identity(stdout, family);
		putchar('\n');
	}
	for (int i = 0; i < snapshot->slot_count; i++) {
		const struct destination *one = &snapshot->destinations[i];

		print_row(family, family_text(one->name, REGION_NAME), &one->tally,
		          &one->budget.bucket, one);
	}
	if (snapshot->slot_count == 0 || family->whole)
		print_row(family, "(all)", &region->tally, &region->process, NULL);
	if (!family->whole)
		return;
	for (int i = 0; i < snapshot->slot_count; i++) {
		const struct destination *one = &snapshot->destinations[i];

		stat_print_tally(stdout, family_text(one->name, REGION_NAME), &one->tally);
		stat_print_lease(stdout, one);
	}
}

static void end(size_t unreadable)
{
	if (unreadable)
		printf("%s%zu %s could not be looked into\n", rows ? "\n" : "", unreadable,
		       unreadable == 1 ? "process" : "processes");
}

const struct printer stat_table = { begin, print_family, end };
