/* SPDX-License-Identifier: MIT */
/* Slots of the region: open addressing in a short window; where it is full the coldest makes room,
 * so that a crawler with 100,000 destinations stays within fixed memory and is never stalled. */
#include "dest/slots.h"

#include "dest/names.h"
#include "region/chunks.h"
#include "region/state.h"
#include "sys/cell.h"

#include <limits.h>
#include <stddef.h>

#define WINDOW 16

static bool is_claimed(int64_t key)
{
	return !(key & 1);
}

/*
 * What losing a slot would cost: which of a full window makes room. Time alone would not do: a scan
 * turns the whole table over in the pause between two attempts of a storm, whose budget must
 * outlive it. So what was tried often counts for more than what was tried once, whatever came
 * since, until it has been left alone for a horizon. At the same rank one that is known to be well
 * goes first: a new slot is as good for it, while losing a failing one lets a storm begin afresh.
 */
static int rank(const struct destination *destination, int64_t key, int64_t now)
{
	int64_t attempts = LOAD(destination->tally.attempts);
	int64_t streak = LOAD(destination->budget.streak);
	int64_t age = (int64_t)((uint64_t)now - (uint64_t)LOAD(destination->used_at));
	int doublings = 0;

	if (age > NAMES_HORIZON || age < -NAMES_HORIZON) /* left alone, or corrupted */
		return 0;
	/* Two that want the same slot must not take it from each other for ever. */
	if (is_claimed(key) && age < NS_PER_S)
		return INT_MAX;
	attempts = greater(attempts, streak);
	if (attempts > 1)
		doublings = 63 - __builtin_clzll((uint64_t)attempts);
	if (doublings > 10)
		doublings = 10;
	return 2 * doublings + (streak > 0 || LOAD(destination->tally.successes) == 0);
}

/* A slot, and its key. */
struct seat {
	cell64 *key;
	struct destination *destination;
	uint32_t slot;
};

/* The i-th place of a key in a chunk. */
static inline struct seat seat_of(struct chunk *chunk, uint32_t number, int64_t key, unsigned int i)
{
	uint32_t at = (uint32_t)(((uint64_t)key / 4 + i) % REGION_CHUNK);

	return (struct seat) { &chunk->keys[at], &chunk->destinations[at],
		               number * REGION_CHUNK + at };
}

/* Empties a slot that has just been claimed for another name. */
static void clear(struct destination *destination, int64_t now)
{
	size_t from = offsetof(struct destination, named);
	cell64 *cell = (cell64 *)((char *)destination + from);
	cell64 *end = (cell64 *)destination->name;

	atomic_fetch_add(&destination->generation, 1);
	for (; cell < end; cell++)
		STORE(*cell, cell == &destination->used_at ? now : 0);
}

/* Takes a slot, whose key was `old`, for another name. False: somebody was faster. */
static bool claim(const struct seat *seat, int64_t old, int64_t key, int64_t now)
{
	int64_t claimed = key & ~INT64_C(1);

	/* Before it is ours, or the next one might choose it too. */
	STORE(seat->destination->used_at, now);
	STORE(seat->destination->slot, seat->slot);
	if (old == 0)
		return atomic_compare_exchange_strong(seat->key, &old, key);
	if (old != claimed && !atomic_compare_exchange_strong(seat->key, &old, claimed))
		return false;
	clear(seat->destination, now);
	return atomic_compare_exchange_strong(seat->key, &claimed, key);
}

/* Looks for a key by the keys alone. True: *seat has it. Else, with *old, *seat is one that is
 * free, or that somebody began to empty for this key; seat->key NULL: there is none. */
static bool find(int64_t key, struct seat *seat, int64_t *old)
{
	int levels = chunk_levels(shim_region);

	seat->key = NULL;
	for (int level = 0; level <= levels; level++) {
		uint32_t number = chunk_of_key(level, key);
		struct chunk *chunk = chunk_reach(shim_region, number);

		for (unsigned int i = 0; chunk && i < WINDOW; i++) {
			struct seat one = seat_of(chunk, number, key, i);

			*old = LOAD_ACQUIRE(*one.key);
			if (*old == key || *old == 0 || (*old | 1) == key) {
				*seat = one;
				return *old == key;
			}
		}
	}
	return false;
}

/* The coldest of all the places of a key, none of which is free, and its rank. */
static int find_coldest(int64_t key, struct seat *coldest, int64_t *old, int64_t now)
{
	int levels = chunk_levels(shim_region), lowest = 0;

	coldest->key = NULL;
	for (int level = 0; level <= levels; level++) {
		uint32_t number = chunk_of_key(level, key);
		struct chunk *chunk = chunk_mapped(shim_region, number);

		for (unsigned int i = 0; chunk && i < WINDOW; i++) {
			struct seat one = seat_of(chunk, number, key, i);
			int64_t its = LOAD_ACQUIRE(*one.key);
			int of_one = rank(one.destination, its, now);

			if (!coldest->key || of_one < lowest ||
			    (of_one == lowest && LOAD(one.destination->used_at) <
			                             LOAD(coldest->destination->used_at))) {
				*coldest = one;
				lowest = of_one;
				*old = its;
			}
		}
	}
	return lowest;
}

struct destination *slot_of_key(int64_t key, bool make, int64_t now, bool *fresh)
{
	struct seat seat = { 0 };
	int64_t old = 0;

	for (int growths = 0;;) {
		int lowest = 0;

		if (find(key, &seat, &old)) {
			*fresh = atomic_load(&seat.destination->named) != key;
			return seat.destination;
		}
		if (!make)
			return NULL;
		if (!seat.key) {
			lowest = find_coldest(key, &seat, &old, now);
			if (lowest > 0 && growths++ < REGION_LEVELS &&
			    chunk_grow(shim_region, key, now))
				continue;
		}
		/* It may have come to be the key's since. */
		if (old != key && claim(&seat, old, key, now)) {
			if (lowest > 0) {
				count(&seat.destination->tally.evicted);
				count(&shim_tally->evicted);
			}
			*fresh = true;
			return seat.destination;
		}
	}
}
