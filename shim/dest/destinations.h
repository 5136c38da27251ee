/* SPDX-License-Identifier: MIT */
/*
 * Destinations: from an address or a name to its slot in the region, and from a slot to the account
 * that a verdict draws on. A fixed number of slots; the coldest makes room. Lock-free,
 * async-signal-safe.
 */
#ifndef RETRYBUDGET_DEST_DESTINATIONS_H
#define RETRYBUDGET_DEST_DESTINATIONS_H

#include "config/config.h"
#include "dest/names.h"
#include "region/chunks.h"
#include "region/state.h"

/* The destination of a connect to this address: by the name the program asked for, else by address;
 * that of datagrams begins with "udp:", and is another one.
 * hit: what is known of its name, place == 0 if nothing. now: ns. Never NULL once READY. */
struct destination *destination_of(const struct address *address, struct name_hit *hit,
                                   int64_t now);

/* True if the policy for datagrams to an inet address says udp = on. No destination is made of it:
 * what is not asked for shall not push out what is. */
bool destination_asks_datagrams(const struct address *address, const struct config *config,
                                int64_t now);

/* The destination of a lookup of a name, of one kind (a family, or a type of records): that a name
 * has nothing of one kind says nothing of another. NULL if there is none and `make` is false. */
struct destination *destination_of_lookup(const char *node, int kind, bool make, int64_t now);

/* Which policy a slot has, cached by this process: other processes may have other files.
 * Packed: 24 bits of the slot's generation, 24 of the configuration's serial, 16 of index + 1. */
extern HIDDEN ucell64 destination_policies[REGION_CHUNK]; /* of the first chunk */

/* Matches the destination against the patterns, caches that, and says so in the region. known: the
 * upper 48 bits. */
int destination_find_policy(struct destination *destination, const struct config *config,
                            uint64_t known);

/* A slot by index, if it still belongs to the name it had; else NULL. */
static inline struct destination *destination_at(uint32_t slot, uint32_t generation)
{
	struct destination *found = slot_at(shim_region, slot);

	return found && (uint32_t)LOAD(found->generation) == generation ? found : NULL;
}

/* The index of a slot. */
static inline uint32_t destination_slot(const struct destination *destination)
{
	return slot_number(shim_region, destination);
}

/* What this process knows of a slot's policy. A slot is never used before its chunk is mapped. */
static inline ucell64 *destination_policy(uint32_t slot)
{
	return slot < REGION_CHUNK
	           ? &destination_policies[slot]
	           : &chunk_views[slot / REGION_CHUNK].policies[slot % REGION_CHUNK];
}

/* Everything a verdict on this destination, in this slot, draws on. Returns the policy's index. */
static inline int destination_account_at(struct destination *destination, uint32_t slot,
                                         const struct config *config, struct account *account)
{
	uint64_t known = ((uint64_t)LOAD(destination->generation) & 0xffffff) << 40 |
	                 ((uint64_t)config->serial & 0xffffff) << 16;
	uint64_t past = LOAD(*destination_policy(slot)) - known;
	int index = past > 0 && past <= CONFIG_POLICIES
	                ? (int)past - 1
	                : destination_find_policy(destination, config, known);

	account->budget = &destination->budget;
	account->policy = &config->policies[index];
	account->process = &shim_region->process;
	account->process_rule = &config->process;
	account->slept = 0;
	account->claimed_at = 0;
	account->may_be_other = false;
	account->is_met = LOAD(destination->last_unmet) == 0;
	return index;
}

static inline int destination_account(struct destination *destination, const struct config *config,
                                      struct account *account)
{
	return destination_account_at(destination, destination_slot(destination), config, account);
}

#endif
