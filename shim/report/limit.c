/* SPDX-License-Identifier: MIT */
/* The rate limit of records, by compare-and-swap on the time each kind was last written. */
#include "report/limit.h"

#include "report/report.h"

/* Places in destination->records. */
enum {
	KIND_REFUSED,
	KIND_RETRYING,
	KIND_EXHAUSTED,
	KIND_RECOVERED,
	KIND_NONE,
};

static int kind_of(const struct record *record)
{
	switch (record->event) {
	case EVENT_REFUSED:
		return KIND_REFUSED;
	case EVENT_RETRYING:
		return KIND_RETRYING;
	case EVENT_EXHAUSTED:
		return KIND_EXHAUSTED;
	case EVENT_RECOVERED:
		return KIND_RECOVERED;
	default:
		return KIND_NONE;
	}
}

/* Ages in unsigned arithmetic: the cell is shared memory and may hold anything. Another thread may
 * have read its clock a little later than we did, so "soon" counts as "just now" as well. */
static bool is_recent(int64_t then, int64_t interval, int64_t now)
{
	uint64_t age =
	    now >= then ? (uint64_t)now - (uint64_t)then : (uint64_t)then - (uint64_t)now;

	return age < (uint64_t)interval;
}

static bool claim(cell64 *last, int64_t interval, int64_t now)
{
	int64_t then = atomic_load_explicit(last, memory_order_relaxed);

	if (then != 0 && is_recent(then, interval, now))
		return false;
	return atomic_compare_exchange_strong(last, &then, now ? now : 1);
}

/* The interval has no say: a recovery left out would leave the log saying that the destination is
 * down. Compare and claim use one reading of the cell, so that of two threads only one passes. */
static bool claim_recovery(struct destination *destination, int64_t now)
{
	cell64 *last = &destination->records[KIND_RECOVERED];
	int64_t then = atomic_load(last), since = then;

	/* Of no thread's clock but a corrupted word: there would never be another. */
	if (then > 0 && then - now > NS_PER_S)
		since = 0;
	for (int kind = KIND_REFUSED; kind < KIND_RECOVERED; kind++)
		if (atomic_load(&destination->records[kind]) > since)
			return atomic_compare_exchange_strong(last, &then, now ? now : 1);
	return false;
}

static int64_t take_all(cell64 *suppressed)
{
	int64_t taken = atomic_exchange(suppressed, 0);

	return taken > 0 ? taken : 0;
}

bool limit_pass(const struct record *record, int64_t interval, int64_t now, int64_t *suppressed)
{
	struct destination *destination = record->destination;
	int kind = kind_of(record);

	*suppressed = 0;
	if (record->admission) {
		if (!claim(&record->admission->recorded_at, interval, now)) {
			count(&record->admission->suppressed);
			return false;
		}
		*suppressed = take_all(&record->admission->suppressed);
		return true;
	}
	if (!destination || kind == KIND_NONE)
		return true;
	if (kind == KIND_RECOVERED) {
		if (!claim_recovery(destination, now))
			return false;
	} else if (!claim(&destination->records[kind], interval, now)) {
		if (kind == KIND_REFUSED)
			count(&destination->suppressed);
		return false;
	}
	if (kind == KIND_REFUSED || kind == KIND_RECOVERED)
		*suppressed = take_all(&destination->suppressed);
	return true;
}

void limit_undo(const struct record *record, int64_t suppressed)
{
	cell64 *to = record->admission     ? &record->admission->suppressed
	             : record->destination ? &record->destination->suppressed
	                                   : NULL;

	/* The bound is for a corrupted one. */
	if ((record->event == EVENT_REFUSED || record->admission) && suppressed < INT64_MAX)
		suppressed++;
	if (to && suppressed > 0)
		atomic_fetch_add_explicit(to, suppressed, memory_order_relaxed);
}
