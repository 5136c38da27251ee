/* SPDX-License-Identifier: MIT */
/* Counts of what was seen, four bits each: for each length of a run how often the program tried
 * again and how often it went on. When one is full both are halved, so that the new outweighs the
 * old. */
#include "track/habit.h"

#define RUNS 8  /* longer runs count as this long */
#define FULL 15 /* of a count */

/* Sure enough: seen at least so often, and more than twice as often as the opposite. */
#define LEAST 2

/* Failures in a row after which nothing is taken for new work any more. Ten times what a looping
 * client gets through in the first half minute of an outage: it bounds what a program that works
 * through a list, one try for each entry, sends to a dead server before the budget takes over. */
#define STORM 100

static unsigned int nibble(uint64_t cell, unsigned int at)
{
	return (unsigned int)(cell >> at * 4) & 15;
}

/* Adds one to the count at `one`, of the pair (one, other). */
static void learn(cell64 *cell, unsigned int one, unsigned int other)
{
	int64_t seen = atomic_load_explicit(cell, memory_order_relaxed), next;

	do {
		uint64_t bits = (uint64_t)seen;
		uint64_t a = nibble(bits, one), b = nibble(bits, other);

		if (a == FULL) {
			a /= 2;
			b /= 2;
		}
		bits &= ~(UINT64_C(15) << one * 4 | UINT64_C(15) << other * 4);
		next = (int64_t)(bits | (a + 1) << one * 4 | b << other * 4);
	} while (!atomic_compare_exchange_weak_explicit(cell, &seen, next, memory_order_relaxed,
	                                                memory_order_relaxed));
}

static bool outweighs(const cell64 *cell, unsigned int one, unsigned int other)
{
	uint64_t bits = (uint64_t)atomic_load_explicit(cell, memory_order_relaxed);

	return nibble(bits, one) >= LEAST && nibble(bits, one) > 2 * nibble(bits, other);
}

/* The pair of counts for a run: tried again, and one further on: went on. */
static unsigned int pair_of(uint32_t run)
{
	return 2 * (run < 1 ? 0 : run > RUNS ? RUNS - 1 : run - 1);
}

void habit_tried_again(struct destination *destination, uint32_t run)
{
	learn(&destination->habit, pair_of(run), pair_of(run) + 1);
}

void habit_went_on(struct destination *destination, uint32_t run)
{
	learn(&destination->habit, pair_of(run) + 1, pair_of(run));
}

bool habit_goes_on(const struct destination *destination, uint32_t run)
{
	return outweighs(&destination->habit, pair_of(run) + 1, pair_of(run)) &&
	       atomic_load_explicit(&destination->in_a_row, memory_order_relaxed) < STORM;
}

void habit_answered(struct destination *destination, bool by_another)
{
	learn(&destination->answerers, by_another, !by_another);
}

bool habit_is_shared(const struct destination *destination)
{
	return outweighs(&destination->answerers, 1, 0);
}
