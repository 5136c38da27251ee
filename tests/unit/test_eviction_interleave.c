/* SPDX-License-Identifier: MIT */
/*
 * Every interleaving of two threads that want the same slot for two names, and of one that is
 * killed on the way (interleave.h).
 */
#ifndef __SANITIZE_THREAD__

/* Beside the destinations that the other tests are linked with. */
#define shim_region                stepped_region
#define shim_place_children        stepped_place_children
#define shim_scope_note            stepped_scope_note
#define shim_state                 stepped_state
#define shim_tally                 stepped_tally
#define shim_use                   stepped_use
#define destination_of             stepped_of
#define destination_of_lookup      stepped_of_lookup
#define destination_asks_datagrams stepped_asks_datagrams
#define destination_find_policy    stepped_find_policy
#define destination_policies       stepped_policies
#define slot_of_key                stepped_slot_of_key

#include "sys/text.h"
#include "dest/destinations.h"
#include "region/state.h"
#include "addresses.h"
#include "interleave.h"

#include <stdio.h>
#include <sys/mman.h>

#undef atomic_compare_exchange_strong
#undef atomic_store
#undef atomic_fetch_add
#define atomic_compare_exchange_strong(cell, seen, next) compare_exchange(cell, seen, next)
#define atomic_store(cell, value)                        store(cell, value)
#define atomic_fetch_add(cell, value)                    add(cell, value)
/* Before the text of a name is made, and so before it is written. */
#define text_start(text, line, size) (step(), text_start(text, line, size))
#include "../../shim/region/state.c"
#include "../../shim/dest/slots.c"
#include "../../shim/dest/destinations.c"
#undef text_start

static struct address wanted[2];

static void act(int who)
{
	struct name_hit hit;

	destination_of(&wanted[who], &hit, 100 * NS_PER_S);
}

static int64_t key_at(int n)
{
	struct address address = numbered(n);

	return slot_key_of(hash_word(address_hash(&address), address.port));
}

/* Two names whose windows are one, in a table of old names that all have a past; the coldest slot
 * of that window is the same for both. */
static void fill(void)
{
	uint32_t at = (uint64_t)slot_key_of(hash_word(address_hash(&wanted[0]), wanted[0].port)) /
	              4 % REGION_CHUNK;

	memset(shim_region, 0, sizeof(*shim_region));
	for (int i = 0; i < REGION_CHUNK; i++) {
		struct destination *old = &shim_region->first.destinations[i];

		STORE(shim_region->first.keys[i], slot_key_of((uint64_t)(i + 1) << 40));
		STORE(old->generation, 5);
		STORE(old->named, 1);
		STORE(old->used_at, (i == (int)((at + 3) % REGION_CHUNK) ? 90 : 99) * NS_PER_S);
		STORE(old->budget.streak, 7);
		STORE(old->failures[0], 1234567);
		strcpy(old->name, "old");
	}
}

/* What the next attempt at each name finds: a slot of its own name, without the old one's past. */
static void expect_clean(void)
{
	for (int i = 0; i < 2; i++) {
		struct name_hit hit;
		struct destination *found = destination_of(&wanted[i], &hit, 101 * NS_PER_S);
		char name[32];

		snprintf(name, sizeof(name), "10.0.%d.%d:80", wanted[i].bytes[14],
		         wanted[i].bytes[15]);
		/* A kill may leave a wrong name in the records, and nothing worse. */
		if (threads[0].lives == FOREVER)
			cr_assert_str_eq(found->name, name, "%s", found->name);
		cr_assert_eq(found->budget.streak, 0, "the streak of another");
		cr_assert_eq(found->failures[0], 0, "the failure of another");
		cr_assert_neq(found->generation, 5, "outcomes of another would be counted here");
	}
}

static int twin_of(int a)
{
	int b = a + 1;

	while (((uint64_t)key_at(b) / 4 - (uint64_t)key_at(a) / 4) % REGION_CHUNK != 0)
		b++;
	return b;
}

/* Returns how many schedules there were. */
static int walk(int a, int b, int lives)
{
	wanted[0] = numbered(a);
	wanted[1] = numbered(b);
	return walk_schedules(act, lives, fill, expect_clean);
}

static void set_up(void)
{
	shim_region = mmap(NULL, sizeof(*shim_region), PROT_READ | PROT_WRITE,
	                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(shim_region, MAP_FAILED);
	shim_use(shim_region, 0);
}

TestSuite(eviction_interleave, .init = set_up);

Test(eviction_interleave, two_names_for_one_slot)
{
	cr_expect_geq(walk(1, twin_of(1), FOREVER), 100);
}

Test(eviction_interleave, one_name_by_two_threads)
{
	cr_expect_geq(walk(1, 1, FOREVER), 50);
}

Test(eviction_interleave, a_claimer_killed_anywhere)
{
	for (int lives = 0; lives < 12; lives++) {
		walk(1, twin_of(1), lives);
		walk(1, 1, lives);
	}
}

#endif
