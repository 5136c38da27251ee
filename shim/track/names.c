/* SPDX-License-Identifier: MIT */
/* Names by address. Sets of four places, chosen by hash; within a set the oldest makes room. */
#include "track/names.h"

#include "hook/real.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <string.h>

#define NAMES    512
#define BINDINGS 2048
#define WAYS     4

struct name {
	_Atomic(uint64_t) hash; /* 0 while it is written */
	_Atomic(uint32_t) used; /* serial of the last lookup */
	char text[NAME_MAX_LEN + 1];
};

struct binding {
	_Atomic(uint64_t) address; /* hash; 0 while it is written */
	_Atomic(uint64_t) name;
	_Atomic(uint32_t) lookup;   /* serial of the newest, for making room */
	_Atomic(int64_t) failed_at; /* ns; 0 = not since it last answered */
};

static struct name names[NAMES];
static struct binding bindings[BINDINGS];
static _Atomic(uint32_t) lookups;

_Static_assert(BINDINGS < 0xfff, "a place fits the 12 bits it has in a packed failure");

#define LOAD(place)         atomic_load_explicit(&(place), memory_order_acquire)
#define STORE(place, value) atomic_store_explicit(&(place), value, memory_order_release)

uint64_t name_normal(const char *node, char *out)
{
	size_t n = 0;

	for (; node[n]; n++) {
		if (n >= NAME_MAX_LEN)
			return 0;
		out[n] = (char)(node[n] >= 'A' && node[n] <= 'Z' ? node[n] + ('a' - 'A') : node[n]);
	}
	if (n && out[n - 1] == '.')
		n--;
	out[n] = '\0';
	return n ? hash_bytes(ADDRESS_HASH, out, n) | 1 : 0;
}

static struct name *find_name(uint64_t hash)
{
	struct name *set = &names[hash % (NAMES / WAYS) * WAYS];

	for (int i = 0; i < WAYS; i++)
		if (LOAD(set[i].hash) == hash)
			return &set[i];
	return NULL;
}

/* Keeps the text of a name. Whoever takes a place marks it as being written by a hash of 0. */
static void keep_name(uint64_t hash, const char *text, uint32_t lookup)
{
	struct name *set = &names[hash % (NAMES / WAYS) * WAYS];
	struct name *place = find_name(hash);
	uint64_t before;

	if (place) {
		STORE(place->used, lookup);
		return;
	}
	place = set;
	for (int i = 1; i < WAYS; i++)
		if ((int32_t)(LOAD(set[i].used) - LOAD(place->used)) < 0)
			place = &set[i];
	before = LOAD(place->hash);
	if (before == 0 && LOAD(place->used) != 0)
		return; /* somebody is writing it */
	STORE(place->used, lookup);
	if (!atomic_compare_exchange_strong(&place->hash, &before, 0))
		return;
	memcpy(place->text, text, strlen(text) + 1);
	STORE(place->hash, hash);
}

bool names_text(uint64_t hash, char *out)
{
	struct name *name = find_name(hash);

	if (!name)
		return false;
	memcpy(out, name->text, NAME_MAX_LEN + 1);
	out[NAME_MAX_LEN] = '\0';
	/* Another name may have been written over it meanwhile. */
	atomic_thread_fence(memory_order_acquire);
	return LOAD(name->hash) == hash && (hash_bytes(ADDRESS_HASH, out, strlen(out)) | 1) == hash;
}

static struct binding *find_binding(uint64_t address)
{
	struct binding *set = &bindings[address % (BINDINGS / WAYS) * WAYS];

	for (int i = 0; i < WAYS; i++)
		if (LOAD(set[i].address) == address)
			return &set[i];
	return NULL;
}

static void bind_name(uint64_t address, uint64_t name, uint32_t lookup)
{
	struct binding *set = &bindings[address % (BINDINGS / WAYS) * WAYS];
	struct binding *place = find_binding(address);

	if (!place) {
		place = set;
		for (int i = 1; i < WAYS; i++)
			if ((int32_t)(LOAD(set[i].lookup) - LOAD(place->lookup)) < 0)
				place = &set[i];
		STORE(place->address, 0);
		STORE(place->failed_at, 0);
	}
	STORE(place->name, name);
	STORE(place->lookup, lookup);
	STORE(place->address, address);
}

bool name_is_number(const char *node)
{
	unsigned char binary[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, node, binary) == 1 || strchr(node, ':');
}

void names_learn(const char *node, const struct addrinfo *list)
{
	char text[NAME_MAX_LEN + 1];
	uint64_t hash = name_normal(node, text), last = 0;
	uint32_t lookup;

	if (hash == 0 || name_is_number(text))
		return;
	lookup = atomic_fetch_add(&lookups, 1) + 1;
	keep_name(hash, text, lookup);
	for (; list; list = list->ai_next) {
		struct address address;
		uint64_t key;

		if (!list->ai_addr || !address_read(&address, list->ai_addr, list->ai_addrlen) ||
		    address.is_unix)
			continue;
		key = address_hash(&address);
		/* One address comes once per socket type. */
		if (key != last)
			bind_name(key, hash, lookup);
		last = key;
	}
}

bool names_find(uint64_t key, int64_t horizon, int64_t now, struct name_hit *hit)
{
	struct binding *binding = LOAD(lookups) ? find_binding(key) : NULL;
	int64_t failed_at;

	if (!binding)
		return false;
	hit->hash = LOAD(binding->name);
	failed_at = LOAD(binding->failed_at);
	if (LOAD(binding->address) != key)
		return false;
	hit->place = (uint32_t)(binding - bindings) + 1;
	hit->untried = failed_at == 0 || now - failed_at > horizon;
	return true;
}

static struct binding *at_place(uint32_t place)
{
	return place > 0 && place <= BINDINGS ? &bindings[place - 1] : NULL;
}

void names_failed(uint32_t place, int64_t now)
{
	struct binding *binding = at_place(place);

	if (binding)
		STORE(binding->failed_at, now);
}

void names_answered(uint32_t place)
{
	struct binding *binding = at_place(place);

	if (binding && LOAD(binding->failed_at) != 0)
		STORE(binding->failed_at, 0);
}
