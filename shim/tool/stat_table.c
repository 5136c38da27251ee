/* SPDX-License-Identifier: MIT */
/* `retrybudget stat` for people: a row for each destination of each process. */
#include "tool/stat.h"

#include "report/record.h"

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
		printf("%-10s %-15s %-7s %-30s %9s %8s %9s %8s %8s %7s %9s %7s %s\n", "PID",
		       "PROGRAM", "MODE", "DESTINATION", "ATTEMPTS", "RETRIES", "ANSWERED",
		       "FAILED", "REFUSED", "WAITED", "TOKENS", "STREAK", "LAST");
}

/* "4711+3": three more share the region. */
static const char *pids(const struct family *family)
{
	static char text[32];

	if (family->count > 1)
		(void)snprintf(text, sizeof(text), "%d+%zu", (int)family->members[0].pid,
		               family->count - 1);
	else
		(void)snprintf(text, sizeof(text), "%d", (int)family->members[0].pid);
	return text;
}

static void print_row(const struct family *family, const char *name, const struct tally *tally,
                      const struct bucket *bucket, const struct destination *destination)
{
	const struct region_identity *identity = &family->snapshot->region->identity;
	int64_t tokens, capacity, streak, last;
	const char *mode = stat_mode(LOAD(identity->mode)), *class;
	char level[48] = "full";

	if (stat_tokens(bucket, &tokens, &capacity))
		(void)snprintf(level, sizeof(level), "%" PRId64 ".%" PRId64 "/%" PRId64,
		               tokens / 1000, tokens % 1000 / 100, capacity / 1000);
	print_head();
	printf("%-10s %-15s %-7s %-30s %9" PRId64 " %8" PRId64 " %9" PRId64 " %8" PRId64
	       " %8" PRId64 " %7" PRId64 " %9s",
	       pids(family), family_program(family), mode ? mode : "?", name, LOAD(tally->attempts),
	       LOAD(tally->retries), stat_sum(tally->answered, 2), stat_sum(tally->failed, 2),
	       LOAD(tally->refused), LOAD(tally->waited), level);
	if (destination) {
		streak = LOAD(destination->budget.streak);
		last = LOAD(destination->last_failure);
		class = last > 0 && last < FAILURE_COUNT ? failure_name((enum failure)last) : "-";
		printf(" %7" PRId64 " %s", streak > 0 ? streak : 0, class);
	}
	putchar('\n');
}

static void print_times(const char *what, const struct times *times)
{
	int64_t count = stat_sum(times->counts, REGION_TIMES), passed = 0;
	int half = 0;

	if (count == 0)
		return;
	for (; half < REGION_TIMES - 1; half++) {
		passed += LOAD(times->counts[half]);
		if (passed >= count - passed)
			break;
	}
	printf("    %s: %" PRId64 ", mean %" PRId64 " ms, half of them ", what, count,
	       LOAD(times->sum) / count / NS_PER_MS);
	if (half < REGION_TIMES - 1)
		printf("under %" PRId64 " ms\n", INT64_C(1) << half);
	else
		printf("over %" PRId64 " ms\n", INT64_C(1) << (half - 1));
}

static void print_list(const char *what, const char *const names[], const cell64 *counts, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (!names[i] || LOAD(counts[i]) == 0)
			continue;
		if (!any)
			printf("    %s: ", what);
		printf("%s%s %" PRId64, any ? ", " : "", names[i], LOAD(counts[i]));
		any = true;
	}
	if (any)
		putchar('\n');
}

static void print_tally(const char *name, const struct tally *tally)
{
	static const char *const statuses[STATUS_PLACES] = { "429", "500", "502",
		                                             "503", "504", "other" };
	static const char *const changes[] = { "opened", "half-opened", "closed" };
	const char *classes[FAILURE_COUNT];

	for (int i = 0; i < FAILURE_COUNT; i++)
		classes[i] = failure_name((enum failure)i);
	printf("\n%s\n", name);
	printf("    first tries: %" PRId64 " answered, %" PRId64 " failed; retries: %" PRId64
	       " answered, %" PRId64 " failed\n",
	       LOAD(tally->answered[0]), LOAD(tally->failed[0]), LOAD(tally->answered[1]),
	       LOAD(tally->failed[1]));
	printf("    refused: %" PRId64 ", of them kept off the network %" PRId64 ", parked %" PRId64
	       ", for want of tokens %" PRId64 "\n",
	       LOAD(tally->refused), LOAD(tally->avoided), LOAD(tally->parked),
	       LOAD(tally->exhausted));
	print_list("failures", classes, tally->failures, FAILURE_COUNT);
	print_list("statuses", statuses, tally->statuses, STATUS_PLACES);
	print_list("breaker", changes, tally->breaker, 3);
	print_times("waits", &tally->waits);
	print_times("delays drawn", &tally->delays);
	print_times("recoveries", &tally->recoveries);
}

static void print_identity(const struct family *family)
{
	const struct region *region = family->snapshot->region;
	const struct region_identity *identity = &region->identity;
	const char *scope = stat_scope(LOAD(identity->scope));

	printf("libretrybudget %s, layout %c, scope %s, made by process %" PRId64 " (%s)\n",
	       family_text(identity->version, REGION_VERSION), REGION_LAYOUT, scope ? scope : "?",
	       LOAD(identity->pid), family_text(identity->program, REGION_PROGRAM));
	if (LOAD(identity->config_hash))
		printf("configuration: %s, hash %08" PRIx32 "\n",
		       family_text(identity->config, REGION_PATH),
		       (uint32_t)LOAD(identity->config_hash));
	else
		printf("configuration: built-in defaults; %s was not read\n",
		       family_text(identity->config, REGION_PATH));
	if (LOAD(region->faults) > 0 || LOAD(region->lost_records) > 0)
		printf("lost records: %" PRId64 ", faults: %" PRId64 "\n",
		       LOAD(region->lost_records), LOAD(region->faults));
	putchar('\n');
}

static void print_family(const struct family *family)
{
	const struct snapshot *snapshot = family->snapshot;
	const struct region *region = snapshot->region;

	if (snapshot->state != SNAPSHOT_GOOD) {
		print_head();
		printf("%-10s %-15s %s\n", pids(family), family_program(family),
		       snapshot_sentence(snapshot));
		return;
	}
	if (family->whole)
		print_identity(family);
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

		print_tally(family_text(one->name, REGION_NAME), &one->tally);
	}
}

static void end(size_t unreadable)
{
	if (unreadable)
		printf("%s%zu %s could not be looked into\n", rows ? "\n" : "", unreadable,
		       unreadable == 1 ? "process" : "processes");
}

const struct printer stat_table = { begin, print_family, end };
