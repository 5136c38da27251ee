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

static bool claim(cell64 *last, int64_t interval, int64_t now)
{
	int64_t then = atomic_load_explicit(last, memory_order_relaxed);

	if (then != 0 && is_recent(then, interval, now))
		return false;
	return atomic_compare_exchange_strong(last, &then, now ? now : 1);
}

/* The interval has no say where something was written: a recovery left out would leave the log
 * saying that the destination is down. Compare and claim use one reading of the cell, so that of
 * two threads only one passes. */
static bool claim_recovery(const struct record *record, int64_t interval, int64_t now)
{
	struct destination *destination = record->destination;
	cell64 *last = &destination->records[KIND_RECOVERED];
	int64_t then = atomic_load(last), since = then;
	bool due;

	/* Of no thread's clock but a corrupted word: there would never be another. */
	if (then > 0 && then - now > NS_PER_S)
		since = 0;
	due = atomic_load(&destination->untold[record->in_observe].throttled) > 0 &&
	      !(since > 0 && is_recent(since, interval, now));
	for (int kind = KIND_THROTTLED; kind < KIND_RECOVERED; kind++)
		due = due || atomic_load(&destination->records[kind]) > since;
	return due && atomic_compare_exchange_strong(last, &then, now ? now : 1);
}

/* Which tokens is noted before they can be full again, and by one thread only. */
static bool claim_exhausted(const struct record *record, int64_t interval, int64_t now)
{
	struct destination *destination = record->destination;
	int64_t none = 0;

	return atomic_load_explicit(&destination->exhausted, memory_order_relaxed) == 0 &&
	       claim(&destination->records[KIND_EXHAUSTED], interval, now) &&
	       atomic_compare_exchange_strong(&destination->exhausted, &none, record->exhausted);
}

/* Shared memory may hold anything, and the line has room for numbers of this size. */
#define SUM_MAX INT64_C(999999999999)

static int64_t take(cell64 *from, int64_t most)
{
	int64_t taken = atomic_exchange(from, 0);

	return taken < 0 ? 0 : taken > most ? most : taken;
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

static void give_back(cell64 *to, int64_t n)
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
		if (!claim_recovery(record, interval, now))
			return false;
		break;
	default:
		return true;
	}
	take_sums(&destination->untold[record->in_observe], told);
	return true;
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

void limit_undo(const struct record *record, const struct told *told)
{
	struct destination *destination = record->destination;
	struct untold *untold;

	if (record->admission) {
		/* This one, too. The bound is for a corrupted count. */
		give_back(&record->admission->suppressed,
		          told->suppressed + (told->suppressed < INT64_MAX));
		return;
	}
	if (!destination)
		return;
	if (record->event == EVENT_EXHAUSTED)
		atomic_store(&destination->exhausted, 0);
	if (record->event == EVENT_REFILLED)
		atomic_store(&destination->exhausted, record->exhausted);
	untold = &destination->untold[record->in_observe];
	give_back(&untold->attempts, told->attempts);
	give_back(&untold->throttled, told->throttled);
	give_back(&untold->refused, told->refused);
	give_back(&untold->parked, told->parked);
	give_back(&untold->held, told->held);
	give_back(&untold->waited, told->waited);
}
