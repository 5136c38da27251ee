/* SPDX-License-Identifier: MIT */
/* Requests by address, in sets of four. */
#include "conn/pending_lookups.h"

#include "dest/failures.h"
#include "region/state.h"

#include <stdatomic.h>

#define REQUESTS 256
#define WAYS     4

/* No request lies there. */
#define BUSY ((uintptr_t)1)

struct place {
	_Atomic(uintptr_t) block; /* 0 = free, BUSY while the rest is written or read */
	_Atomic(uint32_t) serial; /* for making room */
	_Atomic(uint32_t) slot, generation;
	_Atomic(int32_t) kind;
	_Atomic(bool) retry, probe, paid, permit;
	ucell64 name;
	cell64 began, admitted;
};

static struct place places[REQUESTS];
static _Atomic(uint32_t) entered;

static struct place *set_of(uintptr_t block)
{
	return &places[hash_word(0, block) % (REQUESTS / WAYS) * WAYS];
}

/* Claims the place of this block. */
static struct place *claim(uintptr_t block)
{
	struct place *set = set_of(block);

	for (int i = 0; i < WAYS; i++) {
		uintptr_t had = block;

		if (atomic_compare_exchange_strong(&set[i].block, &had, BUSY))
			return &set[i];
	}
	return NULL;
}

/* Claims a free place, or that of the oldest; NULL if others are faster. */
static struct place *claim_room(uintptr_t block)
{
	struct place *set = set_of(block), *oldest = set;
	uintptr_t had = 0;

	for (int i = 0; i < WAYS; i++, had = 0)
		if (atomic_compare_exchange_strong(&set[i].block, &had, BUSY))
			return &set[i];
	for (int i = 1; i < WAYS; i++)
		if ((int32_t)(set[i].serial - oldest->serial) < 0)
			oldest = &set[i];
	had = oldest->block;
	if (had != BUSY && atomic_compare_exchange_strong(&oldest->block, &had, BUSY))
		return oldest;
	return NULL;
}

void pending_lookup_enter(const void *block, const struct request *request)
{
	struct place *place = claim((uintptr_t)block);

	if (!place)
		place = claim_room((uintptr_t)block);
	if (!place)
		return;
	place->serial = atomic_fetch_add(&entered, 1);
	place->slot = destination_slot(request->trial.destination);
	place->generation = (uint32_t)request->trial.destination->generation;
	place->kind = request->kind;
	place->retry = request->trial.retry;
	place->probe = request->trial.probe;
	place->paid = request->paid;
	place->permit = request->permit;
	place->began = request->began;
	place->admitted = request->admitted;
	place->name = request->name;
	atomic_store(&place->block, (uintptr_t)block);
}

bool pending_lookup_take(const void *block, struct request *request)
{
	struct place *place = claim((uintptr_t)block);

	if (!place)
		return false;
	*request = (struct request) {
		.trial = { .destination = destination_at(place->slot, place->generation),
		           .owner = FAILURE_ANYONE,
		           .began = place->admitted ? place->admitted : place->began,
		           .retry = place->retry,
		           .probe = place->probe },
		.paid = place->paid,
		.permit = place->permit,
		.began = place->began,
		.admitted = place->admitted,
		.name = place->name,
		.kind = place->kind,
	};
	atomic_store(&place->block, 0);
	return request->trial.destination;
}
