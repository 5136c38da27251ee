/* SPDX-License-Identifier: MIT */
/*
 * Every interleaving of two threads that want the same slot for two names, and of one that is
 * killed on the way: destinations.c is compiled into this file with its turning points made into
 * steps at which the other thread may take over, as in test_bucket_interleave.c.
 *
 * Not built for ThreadSanitizer, which does not know coroutines; nothing runs in parallel here.
 */
#ifndef __SANITIZE_THREAD__

/* Beside the destinations that the other tests are linked with. */
#define shim_region                stepped_region
#define shim_scope_note            stepped_scope_note
#define shim_state                 stepped_state
#define destination_slot           stepped_slot
#define destination_at             stepped_at
#define destination_of             stepped_of
#define destination_of_lookup      stepped_of_lookup
#define destination_asks_datagrams stepped_asks_datagrams
#define destination_account        stepped_account

#include "report/text.h"
#include "track/destinations.h"
#include "track/state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

static void step(void);

static bool compare_exchange(cell64 *cell, int64_t *seen, int64_t next)
{
	step();
	return atomic_compare_exchange_strong(cell, seen, next);
}

static void store(cell64 *cell, int64_t value)
{
	step();
	*cell = value;
}

static void add(cell64 *cell, int64_t value)
{
	step();
	*cell += value;
}

#undef atomic_compare_exchange_strong
#undef atomic_store
#undef atomic_fetch_add
#define atomic_compare_exchange_strong(cell, seen, next) compare_exchange(cell, seen, next)
#define atomic_store(cell, value)                        store(cell, value)
#define atomic_fetch_add(cell, value)                    add(cell, value)
/* Before the text of a name is made, and so before it is written. */
#define text_start(text, line, size) (step(), text_start(text, line, size))
#include "../../shim/track/destinations.c"
#undef text_start

enum { STACK = 256 * 1024, LONGEST = 64, FOREVER = LONGEST };

struct actor {
	struct address address;
	int lives; /* steps after which it is killed */
	bool done;
	ucontext_t context;
};

static struct actor actors[2];
static ucontext_t scheduler;
static struct actor *running;
static char stacks[2][STACK];

static uint8_t chosen[LONGEST];
static int length;

static void step(void)
{
	if (running)
		swapcontext(&running->context, &scheduler);
}

static void act(void)
{
	struct actor *me = running;
	struct name_hit hit;

	destination_of(&me->address, &hit, 100 * NS_PER_S);
	me->done = true;
}

static void actor_reset(struct actor *actor, char *stack)
{
	actor->done = false;
	getcontext(&actor->context);
	actor->context.uc_stack.ss_sp = stack;
	actor->context.uc_stack.ss_size = STACK;
	actor->context.uc_link = &scheduler;
	makecontext(&actor->context, act, 0);
}

static void run_schedule(void)
{
	int decisions = 0;

	actor_reset(&actors[0], stacks[0]);
	actor_reset(&actors[1], stacks[1]);
	for (int left = actors[0].lives; !actors[0].done || !actors[1].done;) {
		int next = actors[0].done || left == 0;

		if (!next && !actors[1].done) {
			cr_assert_lt(decisions, LONGEST);
			if (decisions == length)
				chosen[length++] = 0;
			next = chosen[decisions++];
		}
		if (actors[next].done)
			break; /* the other one was killed */
		left -= next == 0 && left != FOREVER;
		running = &actors[next];
		swapcontext(&scheduler, &running->context);
		running = NULL;
	}
	length = decisions;
}

/* The next schedule in depth-first order; false: that was the last. */
static bool next_schedule(void)
{
	while (length > 0 && chosen[length - 1] == 1)
		length--;
	if (length == 0)
		return false;
	chosen[length - 1] = 1;
	return true;
}

static struct address dead(int n)
{
	struct address address = { .port = 80 };

	address.bytes[10] = address.bytes[11] = 0xff;
	address.bytes[12] = 10;
	address.bytes[14] = (uint8_t)(n >> 8);
	address.bytes[15] = (uint8_t)n;
	return address;
}

static int64_t key_at(int n)
{
	struct address address = dead(n);

	return key_of(hash_word(address_hash(&address), address.port));
}

/* Two names whose windows are one, in a table of old names that all have a past; the coldest slot
 * of that window is the same for both. */
static void fill(int a, int b)
{
	uint32_t at = (uint64_t)key_at(a) / 4 % REGION_DESTINATIONS;

	memset(shim_region, 0, sizeof(*shim_region));
	for (int i = 0; i < REGION_DESTINATIONS; i++) {
		struct destination *old = &shim_region->destinations[i];

		STORE(old->key, key_of((uint64_t)(i + 1) << 40));
		STORE(old->generation, 5);
		STORE(old->named, 1);
		STORE(old->used_at,
		      (i == (int)((at + 3) % REGION_DESTINATIONS) ? 90 : 99) * NS_PER_S);
		STORE(old->budget.streak, 7);
		STORE(old->failures[0], 1234567);
		strcpy(old->name, "old");
	}
	actors[0].address = dead(a);
	actors[1].address = dead(b);
}

/* What the next attempt at each name finds: a slot of its own name, without the old one's past. */
static void expect_clean(int lives)
{
	for (int i = 0; i < 2; i++) {
		struct name_hit hit;
		struct destination *found =
		    destination_of(&actors[i].address, &hit, 101 * NS_PER_S);
		char name[32];

		snprintf(name, sizeof(name), "10.0.%d.%d:80", actors[i].address.bytes[14],
		         actors[i].address.bytes[15]);
		/* A kill may leave a wrong name in the records, and nothing worse. */
		if (lives == FOREVER)
			cr_assert_str_eq(found->name, name, "%s", found->name);
		cr_assert_eq(found->budget.streak, 0, "the streak of another");
		cr_assert_eq(found->failures[0], 0, "the failure of another");
		cr_assert_neq(found->generation, 5, "outcomes of another would be counted here");
	}
}

static int twin_of(int a)
{
	int b = a + 1;

	while (((uint64_t)key_at(b) / 4 - (uint64_t)key_at(a) / 4) % REGION_DESTINATIONS != 0)
		b++;
	return b;
}

/* Returns how many schedules there were. */
static int walk(int a, int b, int lives)
{
	int schedules = 0;

	actors[0].lives = lives;
	length = 0;
	do {
		fill(a, b);
		run_schedule();
		expect_clean(lives);
		schedules++;
	} while (next_schedule());
	return schedules;
}

static void set_up(void)
{
	shim_region = mmap(NULL, sizeof(*shim_region), PROT_READ | PROT_WRITE,
	                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(shim_region, MAP_FAILED);
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
