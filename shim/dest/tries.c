/* SPDX-License-Identifier: MIT */
/* Words of 64 bits, one per destination: 18 of its slot + 1, 1 for a try that failed, 2 that count
 * the refusals since one went, 4 that count failures since an answer, 39 of time in units of 2^20
 * ns, which are 18 years. */
#include "dest/tries.h"

#include "dest/demand.h"
#include "dest/tries_row.h"
#include "region/region.h"
#include "sys/arithmetic.h"
#include "sys/confined.h"
#include "sys/real.h"
#include "sys/thread_io.h"

#include <time.h>

#define SLOT_SHIFT 46
#define STUCK      (UINT64_C(1) << 45)
#define DENIED     (UINT64_C(1) << 43)
#define DENIALS    (UINT64_C(3) << 43)
#define UNIT_SHIFT 20
#define VAIN       (UINT64_C(1) << 39)
#define VAINS      (UINT64_C(15) << 39)
#define TIME_MASK  (VAIN - 1)

_Static_assert(REGION_DESTINATIONS < 1 << (64 - SLOT_SHIFT), "each has a word of its own");

/* Beside them a word that remembers of more destinations that a try failed: 48 bits, one for each
 * by its slot, and 16 of time in units of 2^30 ns, since when. */
#define SWEPT_SHIFT 48
#define SWEPT_UNIT  30
#define SWEPT_HOLDS 60 /* units: about a minute */

static uint64_t *tries(void)
{
	return thread_mine()->tries;
}

/* The word as it holds now; 0 but for its time if it has grown old. */
static uint64_t swept(int64_t now)
{
	uint64_t word = thread_mine()->swept;
	uint16_t unit = (uint16_t)(now >> SWEPT_UNIT);

	if (word != 0 && (uint16_t)(unit - (uint16_t)(word >> SWEPT_SHIFT)) <= SWEPT_HOLDS)
		return word;
	return (uint64_t)unit << SWEPT_SHIFT;
}

static uint64_t swept_bit(uint32_t slot)
{
	return UINT64_C(1) << slot % SWEPT_SHIFT;
}

static bool is_of(uint64_t word, uint32_t slot)
{
	return word >> SLOT_SHIFT == (uint64_t)slot + 1;
}

static int64_t time_of(uint64_t word)
{
	return (int64_t)((word & TIME_MASK) << UNIT_SHIFT);
}

/* Its place among the words, or the one that is free, or oldest. Apart, as most threads go to one
 * destination, which is at the first. */
static __attribute__((noinline)) uint64_t *place_of(uint64_t *words, uint32_t slot)
{
	uint64_t *place = words;

	for (int i = 1; i < THREAD_TRIES && !is_of(*place, slot); i++)
		if (is_of(words[i], slot) || /* a free one has no time */
		    (words[i] & TIME_MASK) < (*place & TIME_MASK))
			place = &words[i];
	return place;
}

/* flags: what it then has, and what it keeps of what it had. */
static inline void put(uint64_t *words, uint32_t slot, uint64_t flags, uint64_t kept, int64_t now)
{
	uint64_t *place = is_of(*words, slot) ? words : place_of(words, slot);

	kept &= is_of(*place, slot) ? *place : 0;
	*place = ((uint64_t)slot + 1) << SLOT_SHIFT | flags | kept |
	         ((uint64_t)now >> UNIT_SHIFT & TIME_MASK);
}

/* The word of a destination, 0 if there is none. */
static uint64_t find(uint32_t slot)
{
	const uint64_t *words = tries();

	for (int i = 0; i < THREAD_TRIES; i++)
		if (is_of(words[i], slot))
			return words[i];
	return 0;
}

void tries_note(uint32_t slot, int64_t now)
{
	put(thread_facts.tries, slot, 0, DENIALS | VAINS, now);
	if (thread_facts.tried < UINT8_MAX)
		thread_facts.tried++;
}

bool tries_is_first(bool any_thread)
{
	return thread_facts.tried <= 1 && (any_thread || thread_id() == thread_process());
}

void tries_failed(uint32_t slot, int64_t now)
{
	put(tries(), slot, STUCK, VAINS, now);
	thread_facts.swept = swept(now) | swept_bit(slot);
	thread_facts.stuck = true;
}

void tries_denied(uint32_t slot, int64_t now)
{
	uint64_t denials = find(slot) & DENIALS;

	put(tries(), slot, STUCK | (denials < 2 * DENIED ? denials + DENIED : denials), VAINS, now);
	thread_facts.stuck = true;
}

bool tries_knows(uint32_t slot)
{
	return find(slot) != 0;
}

bool tries_is_denied(uint32_t slot)
{
	return (find(slot) & DENIALS) >= 2 * DENIED;
}

void tries_ended(uint32_t slot, bool well)
{
	uint64_t *words = thread_facts.tries;

	for (int i = 0; i < THREAD_TRIES; i++) {
		if (!is_of(words[i], slot))
			continue;
		if (well)
			words[i] &= ~VAINS;
		else if ((words[i] & VAINS) != VAINS)
			words[i] += VAIN;
	}
}

bool tries_are_vain(uint32_t slot)
{
	return (find(slot) & VAINS) == VAINS;
}

bool tries_loop(uint32_t slot, int64_t since)
{
	uint64_t word = find(slot);

	/* A unit of slack: `since` is finer. */
	return word & STUCK && time_of(word) + (INT64_C(1) << UNIT_SHIFT) >= since;
}

bool tries_sweep(uint32_t slot, int64_t horizon, int64_t now)
{
	const uint64_t *words = tries();
	uint64_t here = find(slot);

	if (here ? now - time_of(here) < horizon : (swept(now) & swept_bit(slot)) != 0)
		return false;
	for (int i = 0; i < THREAD_TRIES; i++)
		if (words[i] & STUCK && !is_of(words[i], slot))
			return true;
	return false;
}

void tries_something_else(uint32_t slot)
{
	uint64_t *words = tries();

	bool elsewhere = false;

	thread_facts.stuck = false;
	thread_facts.row = 0;
	for (int i = 0; i < THREAD_TRIES; i++) {
		if (!(words[i] & STUCK))
			continue;
		if (is_of(words[i], slot)) {
			thread_facts.stuck = true;
		} else {
			words[i] &= ~STUCK;
			elsewhere = true;
		}
	}
	if (elsewhere && slot != TRIES_NOWHERE)
		demand_count_served(monotonic());
}

/* ns of a processor that this thread has used. */
static int64_t spent(void)
{
	struct timespec used = { 0 };

	libc_own.clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return ns_of(used);
}

/* Whether one refusal looks like work. An interrupt or a page fault makes one look like a spin. */
static bool seems_work(struct thread_facts *mine, int64_t own)
{
	unsigned int moved;

	if (own >= TRIES_SPIN &&
	    spent() - mine->row_spent < own / 2) /* slept, whatever it has read */
		return true;
	moved = thread_io_moved(&mine->moved);
	return moved & THREAD_IO_READ || (own >= TRIES_SPIN && moved & THREAD_IO_WROTE);
}

bool tries_may_be_work(int64_t own)
{
	struct thread_facts *mine = &thread_facts;
	bool spun = mine->spun;

	if (confined_by_itself()) /* nor may it be held: that is more calls still */
		return true;
	mine->spun = !seems_work(mine, own);
	mine->row_spent = spent(); /* after what this took: /proc can cost a millisecond */
	return !(spun && mine->spun);
}

int64_t tries_refused(int64_t now)
{
	struct thread_facts *mine = &thread_facts;
	int64_t own;

	tries();
	own = tries_row_refused(&mine->row, &mine->row_at, now);
	if (mine->row == THREAD_ROW) { /* from here on it is watched */
		mine->moved.reads = 0;
		tries_may_be_work(0);
		mine->spun = false;
	}
	return mine->row > THREAD_ROW ? own : -1;
}

void tries_held(int64_t now)
{
	thread_facts.row_at = now;
}
