/* SPDX-License-Identifier: MIT */
/* Host names as text: a table of sets, chosen by hash. */
#include "dest/name.h"

#include "sys/cell.h"
#include "sys/hash.h"
#include "sys/text.h"

#include <arpa/inet.h>
#include <stdatomic.h>
#include <string.h>

#define NAMES 1024
#define WAYS  4

#define TEXT_WORDS (NAME_MAX_LEN / sizeof(uint64_t) + 1)

struct name {
	ucell64 hash;           /* 0 = free */
	_Atomic(uint32_t) used; /* serial of a lookup */
	ucell64 text[TEXT_WORDS];
};

/* A hash is odd. */
#define BEING_WRITTEN 2

static struct name names[NAMES];

uint64_t name_normal(const char *node, char *out)
{
	size_t n = 0;

	for (; node[n]; n++) {
		if (n >= NAME_MAX_LEN)
			return 0;
		out[n] = lower(node[n]);
	}
	if (n && out[n - 1] == '.')
		n--;
	out[n] = '\0';
	return n ? hash_bytes(HASH_START, out, n) | 1 : 0;
}

bool name_is_number(const char *node)
{
	struct in_addr binary;

	return inet_aton(node, &binary) || strchr(node, ':');
}

static struct name *find(uint64_t hash)
{
	struct name *set = &names[hash % (NAMES / WAYS) * WAYS];

	for (int i = 0; i < WAYS; i++)
		if (LOAD_ACQUIRE(set[i].hash) == hash)
			return &set[i];
	return NULL;
}

void name_keep(uint64_t hash, const char *text, uint32_t lookup)
{
	struct name *set = &names[hash % (NAMES / WAYS) * WAYS];
	struct name *place = find(hash);
	uint64_t words[TEXT_WORDS] = { 0 }, before;

	if (place) {
		STORE_RELEASE(place->used, lookup);
		return;
	}
	place = set;
	for (int i = 1; i < WAYS; i++)
		if (serial_is_older(LOAD_ACQUIRE(set[i].used), LOAD_ACQUIRE(place->used)))
			place = &set[i];
	before = LOAD_ACQUIRE(place->hash);
	if (before == BEING_WRITTEN ||
	    !atomic_compare_exchange_strong(&place->hash, &before, BEING_WRITTEN))
		return;
	memcpy(words, text, strlen(text));
	for (size_t i = 0; i < TEXT_WORDS; i++)
		STORE_RELEASE(place->text[i], words[i]);
	STORE_RELEASE(place->used, lookup);
	STORE_RELEASE(place->hash, hash);
}

void name_touch(uint64_t hash, uint32_t lookup)
{
	struct name *name = find(hash);

	if (name)
		STORE_RELEASE(name->used, lookup);
}

bool name_text(uint64_t hash, char *out)
{
	struct name *name = find(hash);
	uint64_t words[TEXT_WORDS];

	if (!name)
		return false;
	for (size_t i = 0; i < TEXT_WORDS; i++)
		words[i] = LOAD_ACQUIRE(name->text[i]);
	memcpy(out, words, NAME_MAX_LEN + 1);
	out[NAME_MAX_LEN] = '\0';
	/* Another name may have been written over it meanwhile. */
	return LOAD_ACQUIRE(name->hash) == hash &&
	       (hash_bytes(HASH_START, out, strlen(out)) | 1) == hash;
}
