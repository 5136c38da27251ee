/* SPDX-License-Identifier: MIT */
/* From regions to series: processes that share one count once. */
#include "agent/collect.h"

#include "sys/hash.h"
#include "tool/family.h"

#include <string.h>
#include <time.h>

static double seconds_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A region is its file, and who signed it and when: numbers of memfds come again. */
static uint64_t key_of(const struct family *family)
{
	const struct mapping *at = &family->members[0].regions[0];
	const struct region_identity *who = &family->snapshot->region->identity;
	const int64_t parts[] = { at->major, at->minor, (int64_t)at->inode, LOAD(who->pid),
		                  LOAD(who->started) };

	return hash_bytes(HASH_START, parts, sizeof(parts));
}

struct work {
	struct totals *totals;
	struct round *round;
};

static void add_family(struct family *family, struct snapshot *snapshot, void *arg)
{
	struct work *work = arg;
	char program[REGION_PROGRAM + 1] = "";
	uint64_t key;

	if (snapshot->state != SNAPSHOT_GOOD) {
		if (snapshot->state == SNAPSHOT_LAYOUT || snapshot->state == SNAPSHOT_FALSE)
			work->round->strange++;
		else
			work->round->unreadable++;
		return;
	}
	work->round->processes++;
	key = key_of(family);
	strncpy(program, family_program(family), sizeof(program) - 1);
	for (int i = 0; i < snapshot->slot_count; i++)
		totals_add(work->totals, key, snapshot->slots[i], program,
		           &snapshot->destinations[i]);
}

bool collect(struct totals *totals, struct round *round)
{
	struct work work = { .totals = totals, .round = round };
	double began = seconds_now(CLOCK_MONOTONIC);
	size_t unreadable = 0;

	*round = (struct round) { 0 };
	totals_begin(totals);
	if (!families_visit(0, add_family, &work, &unreadable))
		return false;
	totals_finish(totals, seconds_now(CLOCK_MONOTONIC));
	round->unreadable += unreadable;
	round->seconds = seconds_now(CLOCK_MONOTONIC) - began;
	round->at = seconds_now(CLOCK_REALTIME);
	return true;
}
