/* SPDX-License-Identifier: MIT */
/* What was counted as words for people: cells of a table, and everything of one destination. */
#include "tool/stat_text.h"

#include "tool/stat.h"

#include "report/record.h"
#include "tool/stat_facts.h"

#include <inttypes.h>

const char *stat_pids(const struct family *family)
{
	static char text[32];

	if (family->count > 1)
		(void)snprintf(text, sizeof(text), "%d+%zu", (int)family->members[0].pid,
		               family->count - 1);
	else
		(void)snprintf(text, sizeof(text), "%d", (int)family->members[0].pid);
	return text;
}

const char *stat_mode_of(const struct family *family)
{
	static char text[16];
	const char *mode = stat_mode(LOAD(family->snapshot->region->identity.mode));
	size_t pending;

	(void)snprintf(text, sizeof(text), "%s%s", mode ? mode : "?",
	               stat_set(family, &pending) ? "*" : "");
	return text;
}

const char *stat_level(const struct bucket *bucket)
{
	static char text[48];
	int64_t tokens, capacity;

	if (!stat_tokens(bucket, &tokens, &capacity))
		return "full";
	(void)snprintf(text, sizeof(text), "%" PRId64 ".%" PRId64 "/%" PRId64, tokens / 1000,
	               tokens % 1000 / 100, capacity / 1000);
	return text;
}

const char *stat_last(const struct destination *destination)
{
	int64_t last = LOAD(destination->last_failure);

	return last > 0 && last < FAILURE_COUNT ? failure_name((enum failure)last) : "-";
}

static void print_times(FILE *out, const char *what, const struct times *times)
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
	fprintf(out, "    %s: %" PRId64 ", mean %" PRId64 " ms, half of them ", what, count,
	        LOAD(times->sum) / count / NS_PER_MS);
	if (half < REGION_TIMES - 1)
		fprintf(out, "under %" PRId64 " ms\n", INT64_C(1) << half);
	else
		fprintf(out, "over %" PRId64 " ms\n", INT64_C(1) << (half - 1));
}

static void print_list(FILE *out, const char *what, const char *const names[], const cell64 *counts,
                       size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		if (!names[i] || LOAD(counts[i]) == 0)
			continue;
		if (!any)
			fprintf(out, "    %s: ", what);
		fprintf(out, "%s%s %" PRId64, any ? ", " : "", names[i], LOAD(counts[i]));
		any = true;
	}
	if (any)
		putc('\n', out);
}

void stat_print_tally(FILE *out, const char *name, const struct tally *tally)
{
	static const char *const statuses[STATUS_PLACES] = { "429", "500", "502",
		                                             "503", "504", "other" };
	static const char *const changes[] = { "opened", "half-opened", "closed" };
	const char *classes[FAILURE_COUNT];

	for (int i = 0; i < FAILURE_COUNT; i++)
		classes[i] = failure_name((enum failure)i);
	fprintf(out, "\n%s\n", name);
	fprintf(out,
	        "    first tries: %" PRId64 " answered, %" PRId64 " failed; retries: %" PRId64
	        " answered, %" PRId64 " failed\n",
	        LOAD(tally->answered[0]), LOAD(tally->failed[0]), LOAD(tally->answered[1]),
	        LOAD(tally->failed[1]));
	fprintf(out,
	        "    refused: %" PRId64 ", of them kept off the network %" PRId64
	        ", parked %" PRId64 ", for want of tokens %" PRId64 "\n",
	        LOAD(tally->refused), LOAD(tally->avoided), LOAD(tally->parked),
	        LOAD(tally->exhausted));
	print_list(out, "failures", classes, tally->failures, FAILURE_COUNT);
	print_list(out, "statuses", statuses, tally->statuses, STATUS_PLACES);
	print_list(out, "breaker", changes, tally->breaker, 3);
	print_times(out, "waits", &tally->waits);
	print_times(out, "delays drawn", &tally->delays);
	print_times(out, "recoveries", &tally->recoveries);
}

static void print_mode(FILE *out, const struct family *family)
{
	const char *mode = stat_mode(LOAD(family->snapshot->region->identity.mode)), *set;
	size_t pending;

	set = stat_set(family, &pending);
	fprintf(out, "mode: %s", mode ? mode : "?");
	if (set)
		fprintf(out, ", %s was asked for by retrybudget set", set);
	if (pending)
		fprintf(out, "; %zu of %zu processes have not taken what was asked last", pending,
		        family->count);
	putc('\n', out);
}

void stat_print_identity(FILE *out, const struct family *family)
{
	const struct region *region = family->snapshot->region;
	const struct region_identity *identity = &region->identity;
	const char *scope = stat_scope(LOAD(identity->scope));

	fprintf(out, "libretrybudget %s, layout %c, scope %s, made by process %" PRId64 " (%s)\n",
	        family_text(identity->version, REGION_VERSION), REGION_LAYOUT, scope ? scope : "?",
	        LOAD(identity->pid), family_text(identity->program, REGION_PROGRAM));
	if (LOAD(identity->config_hash))
		fprintf(out, "configuration: %s, hash %08" PRIx32 "\n",
		        family_text(identity->config, REGION_PATH),
		        (uint32_t)LOAD(identity->config_hash));
	else
		fprintf(out, "configuration: built-in defaults; %s was not read\n",
		        family_text(identity->config, REGION_PATH));
	print_mode(out, family);
	if (LOAD(region->tally.evicted) > 0)
		fprintf(out,
		        "evicted: %" PRId64
		        " destinations in use, for there are %d places: the budget "
		        "of one that comes back begins anew\n",
		        LOAD(region->tally.evicted),
		        LOAD(region->identity.scope) == SCOPE_PROCESS ? REGION_CHUNK
		                                                      : REGION_DESTINATIONS);
	if (family->snapshot->missing > 0)
		fprintf(out,
		        "not shown: destinations of a share of another container, or of another "
		        "user (%d times %d places)\n",
		        family->snapshot->missing, REGION_CHUNK);
	if (LOAD(region->faults) > 0 || LOAD(region->lost_records) > 0)
		fprintf(out, "lost records: %" PRId64 ", faults: %" PRId64 "\n",
		        LOAD(region->lost_records), LOAD(region->faults));
}
