/* SPDX-License-Identifier: MIT */
/* `retrybudget stat` for people: a row for each destination of each process. */
#include "tool/stat.h"

#include <inttypes.h>
#include <string.h>

static size_t rows;

static void begin(void)
{
	rows = 0;
}

static void print_head(void)
{
	if (rows++ == 0)
		printf("%-10s %-15s %-8s %-30s %9s %8s %9s %8s %8s %7s %9s %7s %s\n", "PID",
		       "PROGRAM", "MODE", "DESTINATION", "ATTEMPTS", "RETRIES", "ANSWERED",
		       "FAILED", "REFUSED", "WAITED", "TOKENS", "STREAK", "LAST");
}

static void print_row(const struct family *family, const char *name, const struct tally *tally,
                      const struct bucket *bucket, const struct destination *destination)
{
	int64_t streak;

	print_head();
	printf("%-10s %-15s %-8s %-30s %9" PRId64 " %8" PRId64 " %9" PRId64 " %8" PRId64
	       " %8" PRId64 " %7" PRId64 " %9s",
	       stat_pids(family), family_program(family), stat_mode_of(family), name,
	       LOAD(tally->attempts), LOAD(tally->retries), stat_sum(tally->answered, 2),
	       stat_sum(tally->failed, 2), LOAD(tally->refused), LOAD(tally->waited),
	       stat_level(bucket));
	if (destination) {
		streak = LOAD(destination->budget.streak);
		printf(" %7" PRId64 " %s", streak > 0 ? streak : 0, stat_last(destination));
	}
	putchar('\n');
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
		const struct destination *one = &region->destinations[snapshot->slots[i]];

		print_row(family, family_text(one->name, REGION_NAME), &one->tally,
		          &one->budget.bucket, one);
	}
	if (snapshot->slot_count == 0 || family->whole)
		print_row(family, "(all)", &region->tally, &region->process, NULL);
	if (!family->whole)
		return;
	for (int i = 0; i < snapshot->slot_count; i++) {
		const struct destination *one = &region->destinations[snapshot->slots[i]];

		stat_print_tally(stdout, family_text(one->name, REGION_NAME), &one->tally);
	}
}

static void end(size_t unreadable)
{
	if (unreadable)
		printf("%s%zu %s could not be looked into\n", rows ? "\n" : "", unreadable,
		       unreadable == 1 ? "process" : "processes");
}

const struct printer stat_table = { begin, print_family, end };
