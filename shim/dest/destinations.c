/* SPDX-License-Identifier: MIT */
/* From an address or a name to its slot, with its name in it, and from a slot to its policy. */
#include "dest/destinations.h"

#include "config/match.h"
#include "dest/slots.h"
#include "region/state.h"
#include "sys/cell.h"
#include "sys/hash.h"
#include "sys/text.h"

#include <netinet/in.h>
#include <string.h>

/* Begins the name of a destination of datagrams. No host name has a colon in it. */
#define UDP "udp:"

ucell64 destination_policies[REGION_CHUNK];

/* Finds the slot of a key or claims one. *fresh: it has no name yet. Most are at the first place.
 */
static inline struct destination *slot_of(int64_t key, bool make, int64_t now, bool *fresh)
{
	uint32_t at = (uint32_t)((uint64_t)key / 4 % REGION_CHUNK);
	struct destination *first = &shim_region->first.destinations[at];

	if (LOAD_ACQUIRE(shim_region->first.keys[at]) != key)
		return slot_of_key(key, make, now, fresh);
	*fresh = atomic_load(&first->named) != key;
	return first;
}

/*
 * Two threads, or processes, may both name a fresh slot: they write the same bytes. Electing one of
 * them would leave the slot without a name if that one died. Where the slot has changed hands
 * meanwhile two names are written over each other: one of the writers sees that in `named`, and the
 * next attempt writes it again. (One that is killed right there leaves a wrong name in the records
 * until the slot is evicted, and nothing worse.)
 */
static void write_name(struct destination *destination, int64_t key, const char *name)
{
	int64_t named = 0;
	size_t n = 0;

	atomic_store(&destination->named, 0);
	do
		__atomic_store_n(&destination->name[n], name[n], __ATOMIC_RELAXED);
	while (name[n++]);
	if (!atomic_compare_exchange_strong(&destination->named, &named, key) && named != key)
		atomic_store(&destination->named, 0);
}

/* Writes the name of a fresh slot. */
static void name_slot(struct destination *destination, int64_t key, const struct address *address,
                      const struct name_hit *hit)
{
	char name[NAME_MAX_LEN + 1];
	char line[REGION_NAME];
	struct text text;

	text_start(&text, line, sizeof(line));
	if (address->is_datagram)
		text_string(&text, UDP);
	if (address->is_unix) {
		bool abstract = address->path[0] == '\0';

		text_string(&text, abstract ? "unix:@" : "unix:");
		text_bytes(&text, address->path + abstract, address->path_len - abstract);
	} else if (hit->place && name_text(hit->hash, name)) {
		text_string(&text, name);
		text_string(&text, ":");
		text_decimal(&text, address->port);
	} else {
		text_ip(&text, address->bytes, address->scope, address->port);
	}
	write_name(destination, key, line);
}

/* Others read the line of a cache that it is in. */
static void store_changed(cell64 *cell, int64_t value)
{
	if (LOAD(*cell) != value)
		STORE(*cell, value);
}

static void note_address(struct destination *destination, const struct address *address)
{
	int64_t words[2];

	memcpy(words, address->bytes, sizeof(words));
	store_changed(&destination->address[0], words[0]);
	store_changed(&destination->address[1], words[1]);
	store_changed(&destination->port, address->port);
}

/* By name. Where a link is to be said the program adds it to the address that it got (a hostent has
 * no room for one), so an address with a scope also goes by the name of the same one without. */
static bool find_name(const struct address *address, uint64_t key, int64_t now,
                      struct name_hit *hit)
{
	struct address bare = *address;

	if (names_find(key, now, hit))
		return true;
	bare.scope = 0;
	return address->scope && names_find(address_hash(&bare), now, hit);
}

struct destination *destination_of(const struct address *address, struct name_hit *hit, int64_t now)
{
	struct destination *destination;
	int64_t slot_key;
	uint64_t key;
	bool fresh;

	hit->place = 0;
	hit->untried = false;
	if (address->is_unix)
		key = hash_bytes(HASH_START ^ 1, address->path, address->path_len);
	else if (find_name(address, key = address_hash(address), now, hit))
		key = hash_word(hit->hash, address->port);
	else
		key = hash_word(key, address->port);
	if (address->is_datagram)
		key = hash_word(key, IPPROTO_UDP);
	slot_key = slot_key_of(key);
	destination = slot_of(slot_key, true, now, &fresh);
	if (fresh)
		name_slot(destination, slot_key, address, hit);
	if (fresh || !address->is_unix)
		note_address(destination, address);
	STORE(destination->used_at, now);
	return destination;
}

bool destination_asks_datagrams(const struct address *address, const struct config *config,
                                int64_t now)
{
	char name[NAME_MAX_LEN + 1];
	struct target target = { .address = address->bytes, .port = address->port };
	struct name_hit hit;
	int policy;

	if (!config->datagrams)
		return false;
	if (names_find(address_hash(address), now, &hit) && name_text(hit.hash, name))
		target.name = name;
	policy = config_match(config, &target);
	return policy >= 0 && policy < CONFIG_POLICIES && config->policies[policy].udp;
}

struct destination *destination_of_lookup(const char *node, int kind, bool make, int64_t now)
{
	char name[4 + NAME_MAX_LEN + 1] = "dns:";
	uint64_t hash = name_normal(node, name + 4);
	struct destination *destination;
	int64_t key;
	bool fresh;

	if (hash == 0)
		return NULL;
	key = slot_key_of(hash_word(hash, (uint64_t)kind));
	destination = slot_of(key, make, now, &fresh);
	if (!destination)
		return NULL;
	if (fresh)
		write_name(destination, key, name);
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
	if (strncmp(name, UDP, strlen(UDP)) == 0)
		target.name += strlen(UDP);
	if (target.address) {
		char *colon = strrchr(name, ':');

		if (colon)
			*colon = '\0';
	}
	return config_match(config, &target);
}

/* For tools that read the region. Where programs that share it have other files, of the last. */
static void write_policy(struct destination *destination, const char *label)
{
	size_t n = 0;

	do
		__atomic_store_n(&destination->policy[n], label[n], __ATOMIC_RELAXED);
	while (label[n++]);
}

/* Read as it is written: another thread may empty the slot meanwhile. */
static bool has_policy(const struct destination *destination, const char *label)
{
	size_t n = 0;

	while (n < REGION_LABEL &&
	       __atomic_load_n(&destination->policy[n], __ATOMIC_RELAXED) == label[n])
		if (!label[n++])
			return true;
	return false;
}

int destination_find_policy(struct destination *destination, const struct config *config,
                            uint64_t known)
{
	int index = match(destination, config);

	if (index < 0 || index >= config->policy_count || index >= CONFIG_POLICIES)
		index = 0;
	if (!has_policy(destination, config->labels[index]))
		write_policy(destination, config->labels[index]);
	STORE(*destination_policy(destination_slot(destination)), known | (uint64_t)(index + 1));
	return index;
}
