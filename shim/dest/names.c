/* SPDX-License-Identifier: MIT */
/* Bindings of names to addresses: a table of sets, chosen by hash. */
#include "dest/names.h"

#include "region/region.h"
#include "sys/cell.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <netinet/in.h>
#include <stdatomic.h>
#include <string.h>

#define BINDINGS 1536 /* more of them would lock more memory, used or not (HAZARDS 99) */
#define WAYS     8

/* So many bindings of its set may one address have: a server of a thousand virtual hosts must not
 * push out every other address there. */
#define NAMES_OF_ONE 4

/* An answer waits so long for the connect that it was asked for. */
#define FRESH NS_PER_S

struct binding {
	_Atomic(uint32_t) version; /* odd while it is written */
	_Atomic(uint32_t) lookup;  /* serial of the newest that gave this pair */
	_Atomic(uint32_t) used;    /* serial of the newest lookup when the pair was last of use */
	ucell64 name;
	cell64 answered_at; /* ns; 0 = a connect has followed */
	cell64 failed_at;   /* ns; 0 = not since it last answered */
};

static struct binding bindings[BINDINGS];
/* The address of each binding, 0 = free. Apart from the rest, for every connect searches a set. */
static _Alignas(64) ucell64 addresses[BINDINGS];
_Atomic(uint32_t) names_lookups;

_Static_assert(BINDINGS < 0xfff, "a place fits the 12 bits it has in a packed failure");

/* What a reader saw of a binding, all of one moment. */
struct sight {
	struct binding *binding; /* NULL: none yet */
	uint64_t name;
	uint32_t lookup;
	bool fresh;
	int64_t failed_at;
};

static struct binding *set_of(uint64_t address)
{
	return &bindings[address % (BINDINGS / WAYS) * WAYS];
}

static ucell64 *address_of(const struct binding *binding)
{
	return &addresses[binding - bindings];
}

static bool is_fresh(int64_t answered_at, int64_t now)
{
	return answered_at != 0 && now - answered_at < FRESH;
}

static bool see(struct binding *binding, uint64_t address, int64_t now, struct sight *sight)
{
	uint32_t version;

	if (LOAD_ACQUIRE(*address_of(binding)) != address)
		return false;
	version = LOAD_ACQUIRE(binding->version);
	sight->binding = binding;
	sight->name = LOAD_ACQUIRE(binding->name);
	sight->lookup = LOAD_ACQUIRE(binding->lookup);
	sight->failed_at = LOAD_ACQUIRE(binding->failed_at);
	sight->fresh = is_fresh(LOAD_ACQUIRE(binding->answered_at), now);
	return !(version & 1) && LOAD_ACQUIRE(*address_of(binding)) == address &&
	       LOAD_ACQUIRE(binding->version) == version;
}

static bool is_failing(int64_t failed_at, int64_t now)
{
	return failed_at != 0 && now - failed_at <= NAMES_HORIZON;
}

/* True if `one` should make room rather than `other`: losing the name of a failing destination
 * would let its storm begin afresh under another. */
static bool gives_way(const struct binding *one, const struct binding *other, int64_t now)
{
	bool failing = is_failing(LOAD_ACQUIRE(one->failed_at), now);

	if (failing != is_failing(LOAD_ACQUIRE(other->failed_at), now))
		return !failing;
	return serial_is_older(LOAD_ACQUIRE(one->used), LOAD_ACQUIRE(other->used));
}

/* Chooses the place of a new binding. */
static struct binding *make_room(uint64_t address, int64_t now)
{
	struct binding *set = set_of(address), *of_all = NULL, *of_own = NULL;
	int own = 0;

	for (struct binding *one = set; one < set + WAYS; one++) {
		uint64_t has = LOAD_ACQUIRE(*address_of(one));

		if (has == address) {
			own++;
			if (!of_own ||
			    serial_is_older(LOAD_ACQUIRE(one->used), LOAD_ACQUIRE(of_own->used)))
				of_own = one;
		}
		if (has == 0 && !(LOAD_ACQUIRE(one->version) & 1)) {
			if (!of_all || LOAD_ACQUIRE(*address_of(of_all)) != 0)
				of_all = one;
		} else if (!of_all || (LOAD_ACQUIRE(*address_of(of_all)) != 0 &&
		                       gives_way(one, of_all, now))) {
			of_all = one;
		}
	}
	return own < NAMES_OF_ONE ? of_all : of_own;
}

static void bind_name(uint64_t address, uint64_t name, int64_t now)
{
	struct binding *set = set_of(address), *place;
	uint32_t lookup = LOAD_ACQUIRE(names_lookups), version;
	struct sight sight;

	for (struct binding *one = set; one < set + WAYS; one++)
		if (see(one, address, now, &sight) && sight.name == name) {
			STORE_RELEASE(one->lookup, lookup);
			STORE_RELEASE(one->used, lookup);
			STORE_RELEASE(one->answered_at, now);
			return;
		}
	place = make_room(address, now);
	version = LOAD_ACQUIRE(place->version);
	if (version & 1 || !atomic_compare_exchange_strong(&place->version, &version, version + 1))
		return; /* somebody is writing it */
	STORE_RELEASE(*address_of(place), 0);
	STORE_RELEASE(place->name, name);
	STORE_RELEASE(place->lookup, lookup);
	STORE_RELEASE(place->used, lookup);
	STORE_RELEASE(place->answered_at, now);
	STORE_RELEASE(place->failed_at, 0);
	STORE_RELEASE(*address_of(place), address);
	STORE_RELEASE(place->version, version + 2);
}

uint64_t names_note(const char *node)
{
	char text[NAME_MAX_LEN + 1];
	uint64_t hash = name_normal(node, text);

	if (hash == 0 || name_is_number(text))
		return 0;
	name_keep(hash, text, atomic_fetch_add(&names_lookups, 1) + 1);
	return hash;
}

void names_bind(uint64_t name, const struct sockaddr *from, socklen_t len, int64_t now)
{
	struct address address;

	if (name == 0 || !address_read(&address, from, len) || address.is_unix)
		return;
	bind_name(address_hash(&address), name, now);
	thread_facts.looked_up = name;
}

void names_learn(const char *node, const struct addrinfo *list)
{
	uint64_t name = names_note(node);
	const struct addrinfo *last = NULL;
	int64_t now = monotonic();

	for (; name && list; last = list, list = list->ai_next) {
		/* One address comes once per socket type. */
		if (last && last->ai_addrlen == list->ai_addrlen && last->ai_addr &&
		    list->ai_addr && memcmp(last->ai_addr, list->ai_addr, list->ai_addrlen) == 0)
			continue;
		names_bind(name, list->ai_addr, list->ai_addrlen, now);
	}
}

void names_learn_host(const char *node, const struct hostent *host)
{
	uint64_t name = names_note(node);
	int64_t now = monotonic();

	for (char **each = host->h_addr_list; name && each && *each; each++) {
		struct sockaddr_in in = { .sin_family = AF_INET };
		struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

		if (host->h_addrtype == AF_INET && host->h_length == sizeof(in.sin_addr)) {
			memcpy(&in.sin_addr, *each, sizeof(in.sin_addr));
			names_bind(name, (const struct sockaddr *)&in, sizeof(in), now);
		} else if (host->h_addrtype == AF_INET6 &&
		           host->h_length == sizeof(in6.sin6_addr)) {
			memcpy(&in6.sin6_addr, *each, sizeof(in6.sin6_addr));
			names_bind(name, (const struct sockaddr *)&in6, sizeof(in6), now);
		}
	}
}

/* True if `one` names a connect rather than `other`, neither being this thread's own. */
static bool is_likelier(const struct sight *one, const struct sight *other)
{
	if (one->fresh != other->fresh)
		return one->fresh;
	return one->fresh == serial_is_older(one->lookup, other->lookup);
}

/* What a connect uses stays: the pair, and its text. */
static void note_use(struct binding *binding, uint64_t name)
{
	uint32_t now = LOAD_ACQUIRE(names_lookups);

	if (LOAD_ACQUIRE(binding->answered_at) != 0)
		STORE_RELEASE(binding->answered_at, 0);
	if (LOAD_ACQUIRE(binding->used) == now)
		return;
	STORE_RELEASE(binding->used, now);
	name_touch(name, now);
}

bool names_search(uint64_t address, int64_t now, struct name_hit *hit)
{
	struct binding *set = set_of(address);
	struct sight best = { .binding = NULL }, one;

	for (int i = 0; i < WAYS; i++) {
		if (!see(&set[i], address, now, &one))
			continue;
		if (one.name == thread_facts.looked_up) {
			best = one;
			break;
		}
		if (!best.binding || is_likelier(&one, &best))
			best = one;
	}
	if (!best.binding)
		return false;
	note_use(best.binding, best.name);
	hit->hash = best.name;
	hit->place = (uint32_t)(best.binding - bindings) + 1;
	hit->untried = !is_failing(best.failed_at, now);
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
		STORE_RELEASE(binding->failed_at, now);
}

void names_answered(uint32_t place)
{
	struct binding *binding = at_place(place);

	if (binding && LOAD_ACQUIRE(binding->failed_at) != 0)
		STORE_RELEASE(binding->failed_at, 0);
}
