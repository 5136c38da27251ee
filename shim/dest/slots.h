/* SPDX-License-Identifier: MIT */
/* Finding the slot of a key in the region, and making room for it. Lock-free, async-signal-safe. */
#ifndef RETRYBUDGET_DEST_SLOTS_H
#define RETRYBUDGET_DEST_SLOTS_H

#include "region/region.h"

/*
 * The key of a slot is odd once the slot is that name's, and even while it is emptied for it: who
 * finds it so empties it too, since the claimer may have been killed in the middle, and a new name
 * must not take over an old one's failures. That may wipe what a faster thread has noted already,
 * which is a failure forgotten, not one made up.
 */
static inline int64_t slot_key_of(uint64_t hash)
{
	return (int64_t)(hash | 3);
}

/* Finds the slot of a key, or claims one if `make` is true. now: ns. *fresh: it has no name yet.
 * NULL if there is none. */
struct destination *slot_of_key(int64_t key, bool make, int64_t now, bool *fresh);

#endif
