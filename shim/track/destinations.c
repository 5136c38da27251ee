/* SPDX-License-Identifier: MIT */
/* Slots of the region: open addressing in a short window; where it is full the coldest makes room,
 * so that a crawler with 100,000 destinations stays within fixed memory and is never stalled. */
#include "track/destinations.h"

#include "report/text.h"
#include "track/state.h"

#include <string.h>

#define WINDOW 16

/* How long a name's address is remembered to have failed: the default of the key `horizon`, whose
 * own value is not known before the destination is. */
#define HORIZON (60 * NS_PER_S)

struct region *shim_region;
const char *shim_scope_note;
_Atomic(int) shim_state = STATE_NONE;

/* Which policy a slot has, cached by this process: other processes may have other files.
 * Packed: 24 bits of the slot's generation, 24 of the configuration's serial, 16 of index + 1. */
static _Atomic(uint64_t) policies[REGION_DESTINATIONS];

#define LOAD(place)         atomic_load_explicit(&(place), memory_order_relaxed)
#define STORE(place, value) atomic_store_explicit(&(place), value, memory_order_relaxed)

uint32_t destination_slot(const struct destination *destination)
{
	return (uint32_t)(destination - shim_region->destinations);
}

struct destination *destination_at(uint32_t slot, uint32_t generation)
{
	struct destination *found;

	if (slot >= REGION_DESTINATIONS)
		return NULL;
	found = &shim_region->destinations[slot];
	return (uint32_t)LOAD(found->generation) == generation ? found : NULL;
}

/* How long ago a slot mattered. One that is failing is kept as if it had been used just now, for
 * losing it would let a storm begin afresh. */
static int64_t coldness(struct destination *destination, int64_t now)
{
	int64_t used = LOAD(destination->used_at);

	if (LOAD(destination->budget.streak) > 0)
		return (now - used) / 1024;
	return now - used;
}

/* Empties a slot that has just been claimed for another name. */
static void clear(struct destination *destination)
{
	size_t from = offsetof(struct destination, named);
	cell64 *cell = (cell64 *)((char *)destination + from);
	cell64 *end = (cell64 *)destination->name;

	atomic_fetch_add(&destination->generation, 1);
	for (; cell < end; cell++)
		STORE(*cell, 0);
}

/* Finds the slot of a key or claims one. *fresh: it has no name yet. */
static struct destination *slot_of(uint64_t hash, bool make, int64_t now, bool *fresh)
{
	struct destination *slots = shim_region->destinations;
	int64_t key = hash ? (int64_t)hash : 1;

	for (;;) {
		struct destination *victim = NULL;
		int64_t old;

		for (unsigned int i = 0; i < WINDOW; i++) {
			struct destination *one = &slots[((uint64_t)key + i) % REGION_DESTINATIONS];

			old = LOAD(one->key);
			if (old == key) {
				*fresh = atomic_load(&one->named) == 0;
				return one;
			}
			if (old == 0) {
				victim = one;
				break;
			}
			if (!victim || coldness(one, now) > coldness(victim, now))
				victim = one;
		}
		if (!make)
			return NULL;
		old = LOAD(victim->key);
		if (old == key || !atomic_compare_exchange_strong(&victim->key, &old, key))
			continue;
		if (old != 0)
			clear(victim);
		STORE(victim->used_at, now);
		*fresh = true;
		return victim;
	}
}

/* Two threads, or processes, may both name a fresh slot: they write the same bytes. Electing one of
 * them would leave the slot without a name if that one died. */
static void write_name(struct destination *destination, const char *name)
{
	size_t n = 0;

	do
		__atomic_store_n(&destination->name[n], name[n], __ATOMIC_RELAXED);
	while (name[n++]);
	atomic_store(&destination->named, 1);
}

/* Writes the name of a fresh slot. */
static void name_slot(struct destination *destination, const struct address *address,
                      const struct name_hit *hit)
{
	char name[NAME_MAX_LEN + 1];
	char line[REGION_NAME];
	struct text text;

	text_start(&text, line, sizeof(line));
	if (address->is_unix) {
		bool abstract = address->path[0] == '\0';

		text_string(&text, abstract ? "unix:@" : "unix:");
		text_bytes(&text, address->path + abstract, address->path_len - abstract);
	} else if (hit->place && names_text(hit->hash, name)) {
		text_string(&text, name);
		text_string(&text, ":");
		text_decimal(&text, address->port);
	} else {
		text_ip(&text, address->bytes, address->scope, address->port);
	}
	write_name(destination, line);
}

static void note_address(struct destination *destination, const struct address *address)
{
	int64_t words[2];

	memcpy(words, address->bytes, sizeof(words));
	STORE(destination->address[0], words[0]);
	STORE(destination->address[1], words[1]);
	STORE(destination->port, address->port);
}

struct destination *destination_of(const struct address *address, struct name_hit *hit, int64_t now)
{
	struct destination *destination;
	uint64_t key;
	bool fresh;

	hit->place = 0;
	hit->untried = false;
	if (address->is_unix)
		key = hash_bytes(ADDRESS_HASH ^ 1, address->path, address->path_len);
	else if (names_find(key = address_hash(address), HORIZON, now, hit))
		key = hash_word(hit->hash, address->port);
	else
		key = hash_word(key, address->port);
	destination = slot_of(key, true, now, &fresh);
	if (fresh)
		name_slot(destination, address, hit);
	if (fresh || !address->is_unix)
		note_address(destination, address);
	STORE(destination->used_at, now);
	return destination;
}

struct destination *destination_of_lookup(const char *node, int family, bool make, int64_t now)
{
	char name[4 + NAME_MAX_LEN + 1] = "dns:";
	uint64_t hash = name_normal(node, name + 4);
	struct destination *destination;
	bool fresh;

	if (hash == 0)
		return NULL;
	destination = slot_of(hash_word(hash, (uint64_t)family), make, now, &fresh);
	if (!destination)
		return NULL;
	if (fresh)
		write_name(destination, name);
	STORE(destination->used_at, now);
	return destination;
}

/* The policy by pattern: matched against the name and the address tried last. */
static int match(const struct destination *destination, const struct config *config)
{
	char name[REGION_NAME];
	int64_t words[2] = { LOAD(destination->address[0]), LOAD(destination->address[1]) };
	uint8_t address[16];
	struct target target = { .port = (uint16_t)LOAD(destination->port) };

	for (size_t n = 0; n < sizeof(name); n++)
		name[n] = __atomic_load_n(&destination->name[n], __ATOMIC_RELAXED);
	name[sizeof(name) - 1] = '\0';
	memcpy(address, words, sizeof(address));
	if (words[0] || words[1])
		target.address = address;
	target.name = name;
	if (target.address) {
		char *colon = strrchr(name, ':');

		if (colon)
			*colon = '\0';
	}
	return config_match(config, &target);
}

int destination_account(struct destination *destination, const struct config *config,
                        struct account *account)
{
	uint32_t slot = destination_slot(destination);
	uint64_t want = ((uint64_t)LOAD(destination->generation) & 0xffffff) << 40 |
	                ((uint64_t)config->serial & 0xffffff) << 16;
	uint64_t cached = LOAD(policies[slot]);
	int index;

	if ((cached & ~UINT64_C(0xffff)) == want && (cached & 0xffff)) {
		index = (int)(cached & 0xffff) - 1;
	} else {
		index = match(destination, config);
		if (index < 0 || index >= config->policy_count)
			index = 0;
		STORE(policies[slot], want | (uint64_t)(index + 1));
	}
	if (index >= CONFIG_POLICIES)
		index = 0;
	account->budget = &destination->budget;
	account->policy = &config->policies[index];
	account->process = &shim_region->process;
	account->process_rule = &config->process;
	return index;
}
