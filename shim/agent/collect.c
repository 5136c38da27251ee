/* SPDX-License-Identifier: MIT */
/* From regions to series: processes that share one count once. */
#include "agent/collect.h"

#include "tool/family.h"

#include <string.h>
#include <time.h>

static double seconds_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct work {
	struct totals *totals;
	struct round *round;
};

/* Of a share there may be more than there is memory for: each is added as it is read. */
static bool add_slot(const struct family *family, uint32_t slot, const struct destination *one,
                     void *arg)
{
	struct work *work = arg;
	char program[REGION_PROGRAM + 1] = "";

	strncpy(program, family_program(family), sizeof(program) - 1);
	totals_add(work->totals, family_key(family), slot, program, one);
	return false;
}

static void count_family(struct family *family, struct snapshot *snapshot, void *arg)
{
	struct work *work = arg;

	(void)family;
	if (snapshot->state != SNAPSHOT_GOOD) {
		if (snapshot->state == SNAPSHOT_LAYOUT || snapshot->state == SNAPSHOT_FALSE)
			work->round->strange++;
		else
			work->round->unreadable++;
		return;
	}
	work->round->processes++;
}

bool collect(struct totals *totals, struct round *round)
{
	static const struct family_reader reader = { add_slot, count_family };
	struct work work = { .totals = totals, .round = round };
	double began = seconds_now(CLOCK_MONOTONIC);
	size_t unreadable = 0;

	*round = (struct round) { 0 };
	totals_begin(totals);
	if (!families_read(&reader, &work, &unreadable))
		return false;
	totals_finish(totals, seconds_now(CLOCK_MONOTONIC));
	round->unreadable += unreadable;
	round->seconds = seconds_now(CLOCK_MONOTONIC) - began;
	round->at = seconds_now(CLOCK_REALTIME);
	return true;
}
