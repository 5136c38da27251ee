/* SPDX-License-Identifier: MIT */
/* The table of unanswered datagrams. An entry is free while its cookie is 0; one that failed keeps
 * its place with a mark of 0, so that a late answer is still known to be one. The cookie is written
 * last and taken by compare-and-swap: a writer that is killed half-way leaves a free entry. */
#include "conn/datagrams.h"

#include "sys/cell.h"

#include <stdatomic.h>
#include <stddef.h>

struct entry {
	ucell64 cookie, mark, peer;
	cell64 at;
	_Atomic(uint32_t) slot, generation, place, number;
	_Atomic(int32_t) owner, process;
	_Atomic(bool) retry, probe, flying, paid, permit;
};

static struct entry table[DATAGRAMS];

/* One more than the highest place ever used: most hosts wait for few answers at a time. */
static _Atomic(int) highest;

static struct sent_datagram read_entry(struct entry *entry)
{
	return (struct sent_datagram) {
		.cookie = LOAD_ACQUIRE(entry->cookie),
		.mark = LOAD(entry->mark),
		.peer = LOAD(entry->peer),
		.at = LOAD(entry->at),
		.slot = LOAD(entry->slot),
		.generation = LOAD(entry->generation),
		.owner = LOAD(entry->owner),
		.process = LOAD(entry->process),
		.place = LOAD(entry->place),
		.number = LOAD(entry->number),
		.retry = LOAD(entry->retry),
		.probe = LOAD(entry->probe),
		.flying = LOAD(entry->flying),
		.paid = LOAD(entry->paid),
		.permit = LOAD(entry->permit),
	};
}

static bool is_open(const struct sent_datagram *one)
{
	return one->cookie != 0 && one->mark != 0;
}

/* The place for a new one: free, else the oldest that has failed, else the oldest. */
static struct entry *place_for(int64_t *at)
{
	struct entry *best = NULL;
	bool best_open = true;

	for (int i = 0; i < DATAGRAMS; i++) {
		struct sent_datagram one = read_entry(&table[i]);

		if (one.cookie == 0) {
			int high = LOAD(highest);

			while (i >= high && !atomic_compare_exchange_weak(&highest, &high, i + 1))
				;
			*at = one.at;
			return &table[i];
		}
		if (!best || (best_open && !is_open(&one)) ||
		    (best_open == is_open(&one) && one.at < *at)) {
			best = &table[i];
			best_open = is_open(&one);
			*at = one.at;
		}
	}
	return best;
}

void datagrams_add(const struct sent_datagram *sent)
{
	struct entry *entry;
	int64_t at;

	/* The time is what two writers compete for; it differs from any before, or one gives up. */
	for (int tries = 0;; tries++) {
		entry = place_for(&at);
		if (at != sent->at && atomic_compare_exchange_strong(&entry->at, &at, sent->at))
			break;
		if (tries == 8)
			return;
	}
	STORE(entry->cookie, 0);
	STORE(entry->mark, sent->mark);
	STORE(entry->peer, sent->peer);
	STORE(entry->slot, sent->slot);
	STORE(entry->generation, sent->generation);
	STORE(entry->owner, sent->owner);
	STORE(entry->process, sent->process);
	STORE(entry->place, sent->place);
	STORE(entry->number, sent->number);
	STORE(entry->retry, sent->retry);
	STORE(entry->probe, sent->probe);
	STORE(entry->flying, sent->flying);
	STORE(entry->paid, sent->paid);
	STORE(entry->permit, sent->permit);
	STORE_RELEASE(entry->cookie, sent->cookie);
}

bool datagrams_none(void)
{
	for (int i = 0; i < LOAD(highest); i++)
		if (LOAD(table[i].cookie) != 0)
			return false;
	return true;
}

static bool goes_to(const struct sent_datagram *one, const struct sent_datagram *next)
{
	return is_open(one) && one->slot == next->slot && one->generation == next->generation &&
	       one->process == next->process;
}

bool datagrams_is_open(const struct sent_datagram *next)
{
	for (int i = 0; i < LOAD(highest); i++) {
		struct sent_datagram one = read_entry(&table[i]);

		if (goes_to(&one, next))
			return true;
	}
	return false;
}

static bool free_entry(struct entry *entry, uint64_t cookie)
{
	return atomic_compare_exchange_strong(&entry->cookie, &cookie, 0);
}

/* One caller wins, so each counts once. */
static bool fail(struct entry *entry, const struct sent_datagram *one)
{
	uint64_t mark = one->mark;

	return atomic_compare_exchange_strong(&entry->mark, &mark, 0);
}

bool datagrams_repeated(const struct sent_datagram *next, int64_t horizon,
                        struct sent_datagram *failed)
{
	for (;;) {
		struct entry *best = NULL;
		bool best_same = false;

		for (int i = 0; i < LOAD(highest); i++) {
			struct sent_datagram one = read_entry(&table[i]);
			bool same = one.mark == next->mark;
			int64_t age = next->at - one.at;

			if (!goes_to(&one, next))
				continue;
			if (age > horizon) {
				free_entry(&table[i], one.cookie);
				continue;
			}
			if (!same && (age < DATAGRAM_TIMEOUT ||
			              (one.cookie != next->cookie && one.owner != next->owner)))
				continue;
			if (!best || (same && !best_same) ||
			    (same == best_same && one.at < failed->at)) {
				best = &table[i];
				best_same = same;
				*failed = one;
			}
		}
		if (!best)
			return false;
		if (fail(best, failed))
			return true;
	}
}

bool datagrams_waits(uint64_t cookie, int32_t process, int64_t least, int64_t now)
{
	for (int i = 0; i < LOAD(highest); i++) {
		struct sent_datagram one = read_entry(&table[i]);

		if (one.cookie == cookie && is_open(&one) && one.process == process &&
		    now - one.at >= least)
			return true;
	}
	return false;
}

bool datagrams_overdue(uint64_t cookie, int32_t process, int64_t least, int64_t now,
                       struct sent_datagram *failed)
{
	for (;;) {
		struct entry *best = NULL;

		for (int i = 0; i < LOAD(highest); i++) {
			struct sent_datagram one = read_entry(&table[i]);

			if (one.cookie != cookie || !is_open(&one) || one.process != process ||
			    now - one.at < least || (best && one.at >= failed->at))
				continue;
			best = &table[i];
			*failed = one;
		}
		if (!best)
			return false;
		if (fail(best, failed))
			return true;
	}
}

bool datagrams_answered(uint64_t cookie, uint64_t peer, struct sent_datagram *one)
{
	for (int i = 0; i < LOAD(highest); i++) {
		*one = read_entry(&table[i]);
		if (one->cookie == cookie && (!one->peer || !peer || one->peer == peer) &&
		    free_entry(&table[i], cookie))
			return true;
	}
	return false;
}

void datagrams_drop(uint64_t cookie, int32_t process)
{
	for (int i = 0; i < LOAD(highest); i++)
		if (LOAD(table[i].cookie) == cookie && LOAD(table[i].process) == process)
			free_entry(&table[i], cookie);
}
