/* SPDX-License-Identifier: MIT */
/* The rate limit of records, by compare-and-swap on the time each kind was last written. */
#include "report/limit.h"

#include "report/report.h"

/* Places in destination->records. */
enum {
	KIND_THROTTLED,
	KIND_RETRYING,
	KIND_EXHAUSTED,
	KIND_RECOVERED,
};

/* Ages in unsigned arithmetic: the cell is shared memory and may hold anything. Another thread may
 * have read its clock a little later than we did, so "soon" counts as "just now" as well. */
static bool is_recent(int64_t then, int64_t interval, int64_t now)
{
	uint64_t age =
	    now >= then ? (uint64_t)now - (uint64_t)then : (uint64_t)then - (uint64_t)now;

	return age < (uint64_t)interval;
}

/* When a record of a kind was due last: negative where it was left out (limit_pass_crowd()). */
static int64_t moment_of(int64_t then)
{
	return then < 0 ? (int64_t)(0 - (uint64_t)then) : then;
}

static bool claim(cell64 *last, int64_t interval, int64_t now)
{
	int64_t then = LOAD(*last);

	if (then != 0 && is_recent(moment_of(then), interval, now))
		return false;
	return atomic_compare_exchange_strong(last, &then, now ? now : 1);
}

/* Something of the destination was written after that. */
static bool was_written(struct destination *destination, int64_t since)
{
	bool written = false;

	for (int kind = KIND_THROTTLED; kind < KIND_RECOVERED; kind++)
		written = written || atomic_load(&destination->records[kind]) > since;
	return written;
}

/* The interval has no say where something was written: a recovery left out would leave the log
 * saying that the destination is down. Compare and claim use one reading of the cell, so that of
 * two threads only one passes. */
static bool claim_recovery(const struct record *record, int64_t interval, int64_t now, bool *owed)
{
	struct destination *destination = record->destination;
	cell64 *last = &destination->records[KIND_RECOVERED];
	int64_t then = atomic_load(last), since = moment_of(then);
	bool due;

	/* Of no thread's clock but a corrupted word: there would never be another. */
	if (since > 0 && since - now > NS_PER_S)
		since = 0;
	due = atomic_load(&destination->untold[record->in_observe].throttled) > 0 &&
	      !(since > 0 && is_recent(since, interval, now));
	*owed = was_written(destination, since);
	return (due || *owed) && atomic_compare_exchange_strong(last, &then, now ? now : 1);
}

/* Which tokens is noted before they can be full again, and by one thread only. */
static bool claim_exhausted(const struct record *record, int64_t interval, int64_t now)
{
	struct destination *destination = record->destination;
	int64_t none = 0;

	return LOAD(destination->exhausted) == 0 &&
	       claim(&destination->records[KIND_EXHAUSTED], interval, now) &&
	       atomic_compare_exchange_strong(&destination->exhausted, &none, record->exhausted);
}

/* Shared memory may hold anything, and the line has room for numbers of this size. */
#define SUM_MAX INT64_C(999999999999)

static int64_t take(cell64 *from, int64_t most)
{
	int64_t taken = atomic_exchange(from, 0);

	return within(taken, 0, most);
}

static void take_sums(struct untold *from, struct told *told)
{
	told->attempts = take(&from->attempts, SUM_MAX);
	told->throttled = take(&from->throttled, SUM_MAX);
	told->refused = take(&from->refused, SUM_MAX);
	told->parked = take(&from->parked, SUM_MAX);
	told->held = take(&from->held, SUM_MAX);
	told->waited = take(&from->waited, INT64_MAX / 2);
}

static void restore(cell64 *to, int64_t n)
{
	if (n > 0)
		atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

static bool pass_rejected(struct admission *admission, int64_t interval, int64_t now,
                          struct told *told)
{
	if (!claim(&admission->recorded_at, interval, now)) {
		count(&admission->suppressed);
		return false;
	}
	told->suppressed = take(&admission->suppressed, INT64_MAX);
	return true;
}

bool limit_pass(const struct record *record, int64_t interval, int64_t now, struct told *told)
{
	struct destination *destination = record->destination;

	*told = (struct told) { 0 };
	if (record->admission)
		return pass_rejected(record->admission, interval, now, told);
	if (!destination)
		return true;
	switch (record->event) {
	case EVENT_RETRYING:
		return claim(&destination->records[KIND_RETRYING], interval, now);
	case EVENT_EXHAUSTED:
		return claim_exhausted(record, interval, now);
	case EVENT_REFILLED:
		return atomic_exchange(&destination->exhausted, 0) != 0;
	case EVENT_THROTTLED:
		if (!claim(&destination->records[KIND_THROTTLED], interval, now))
			return false;
		break;
	case EVENT_RECOVERED:
		if (!claim_recovery(record, interval, now, &told->owed))
			return false;
		break;
	default:
		return true;
	}
	take_sums(&destination->untold[record->in_observe], told);
	return true;
}

static cell64 *place_of(const struct record *record)
{
	static const int kinds[] = {
		[EVENT_RETRYING] = KIND_RETRYING,
		[EVENT_THROTTLED] = KIND_THROTTLED,
		[EVENT_EXHAUSTED] = KIND_EXHAUSTED,
		[EVENT_RECOVERED] = KIND_RECOVERED,
	};

	return &record->destination->records[kinds[record->event]];
}

/* True if what was written in this interval leaves room for one more. */
static bool has_room(struct region *region, int64_t most, int64_t interval, int64_t now)
{
	int64_t from = atomic_load(&region->records.from);

	if ((from == 0 || !is_recent(from, interval, now)) &&
	    atomic_compare_exchange_strong(&region->records.from, &from, now ? now : 1))
		atomic_store(&region->records.written, 0);
	if ((uint64_t)atomic_load(&region->records.written) >= (uint64_t)most)
		return false;
	count(&region->records.written);
	return true;
}

bool limit_pass_crowd(struct region *region, const struct record *record, int64_t interval,
                      int64_t now, struct told *told)
{
	enum event event = record->event;
	bool sums = event == EVENT_THROTTLED || event == EVENT_RECOVERED;
	cell64 *place;

	if (!region || !record->destination || interval <= 0 ||
	    (!sums && event != EVENT_RETRYING && event != EVENT_EXHAUSTED))
		return true;
	if (told->owed || has_room(region, sums ? LIMIT_MOST : LIMIT_MOST / 2, interval, now)) {
		told->suppressed = take(&region->records.suppressed, SUM_MAX);
		return true;
	}
	place = place_of(record);
	limit_undo(NULL, record, told);
	atomic_store(place, -(now ? now : 1));
	count(&region->records.suppressed);
	return false;
}

bool limit_pass_other(const struct record *record, struct told *told)
{
	struct untold *untold;

	*told = (struct told) { 0 };
	if (!record->destination ||
	    (record->event != EVENT_THROTTLED && record->event != EVENT_RECOVERED))
		return false;
	untold = &record->destination->untold[!record->in_observe];
	if (atomic_load(&untold->throttled) <= 0)
		return false;
	take_sums(untold, told);
	return told->throttled > 0;
}

void limit_undo(struct region *region, const struct record *record, const struct told *told)
{
	struct destination *destination = record->destination;
	struct untold *untold;

	if (record->admission) {
		/* This one, too. The bound is for a corrupted count. */
		restore(&record->admission->suppressed,
		        told->suppressed + (told->suppressed < INT64_MAX));
		return;
	}
	if (!destination)
		return;
	if (region)
		restore(&region->records.suppressed, told->suppressed);
	if (record->event == EVENT_EXHAUSTED)
		atomic_store(&destination->exhausted, 0);
	if (record->event == EVENT_REFILLED)
		atomic_store(&destination->exhausted, record->exhausted);
	untold = &destination->untold[record->in_observe];
	restore(&untold->attempts, told->attempts);
	restore(&untold->throttled, told->throttled);
	restore(&untold->refused, told->refused);
	restore(&untold->parked, told->parked);
	restore(&untold->held, told->held);
	restore(&untold->waited, told->waited);
}
