/* SPDX-License-Identifier: MIT */
/*
 * The slots of a region by number. The first chunk is in the region itself, and all that a process
 * alone has. A share grows by others where those that a name may lie in are full: level after
 * level, each with as many chunks as all before it, each chunk made when the first name wants it.
 * A name may lie in one chunk of each level. Processes map a chunk when they first look into it,
 * and do without it where they may not. Lock-free, async-signal-safe.
 */
#ifndef RETRYBUDGET_REGION_CHUNKS_H
#define RETRYBUDGET_REGION_CHUNKS_H

#include "region/region.h"

/* What this process knows of a chunk. */
struct chunk_view {
	_Atomic(struct chunk *) at; /* once it is mapped */
	ucell64 *policies;          /* this process's own, for its slots: dest/destinations.h */
	cell64 failed;              /* what region->chunks said when it could not be mapped */
	cell64 dead;                /* the same where that leads to nothing, for whoever it is */
};

extern HIDDEN struct chunk_view chunk_views[REGION_CHUNKS]; /* [0] is not used */

/* The highest level that this process looks into and makes: what it touches is its memory. */
extern HIDDEN int chunk_levels_most;

/* Bounds that by the memory that the process may use. Call from the constructor. */
void chunks_bound(int64_t memory);

/* Which chunk of a level a key may lie in. */
static inline uint32_t chunk_of_key(int level, int64_t key)
{
	uint32_t first = level > 0 ? UINT32_C(1) << (level - 1) : 0;

	return first ? first + ((uint32_t)((uint64_t)key >> 40) & (first - 1)) : 0;
}

/* How many levels there are above the first, for this process. */
static inline int chunk_levels(const struct region *region)
{
	int64_t levels = LOAD(region->levels);

	return levels > 0 && levels < REGION_LEVELS ? (int)lesser(levels, chunk_levels_most) : 0;
}

/* A chunk that this process has mapped, or NULL. */
static inline struct chunk *chunk_mapped(struct region *region, uint32_t number)
{
	return number == 0 ? &region->first : LOAD_ACQUIRE(chunk_views[number].at);
}

/* The same, which is mapped if there is one and it is not. */
struct chunk *chunk_reach(struct region *region, uint32_t number);

/* Makes room for a key whose places are all taken. True if there is more now. now: ns. */
bool chunk_grow(struct region *region, int64_t key, int64_t now);

/* The slot of this number, or NULL: it is in no chunk that is mapped. */
static inline struct destination *slot_at(struct region *region, uint32_t slot)
{
	struct chunk *chunk;

	if (slot < REGION_CHUNK)
		return &region->first.destinations[slot];
	if (slot >= REGION_DESTINATIONS)
		return NULL;
	chunk = chunk_mapped(region, slot / REGION_CHUNK);
	return chunk ? &chunk->destinations[slot % REGION_CHUNK] : NULL;
}

uint32_t slot_search(struct region *region, const struct destination *of);

/* The number of a slot. */
static inline uint32_t slot_number(struct region *region, const struct destination *of)
{
	uintptr_t past = (uintptr_t)of - (uintptr_t)region->first.destinations;

	if (past < sizeof(region->first.destinations))
		return (uint32_t)(past / sizeof(*of));
	return slot_search(region, of);
}

#endif
