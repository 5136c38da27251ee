/* SPDX-License-Identifier: MIT */
/* The word: 24 bits of the second, 20 of refusals in the second before it, 20 of those in it. */
#include "budget/crowd.h"

#include "sys/arithmetic.h"

#define COUNT_BITS  20
#define COUNT_MASK  ((INT64_C(1) << COUNT_BITS) - 1)
#define SECOND_BITS 24
#define SECOND_MASK ((INT64_C(1) << SECOND_BITS) - 1)

/* No crowd counts for more: who comes then leaves the word to its readers. */
#define ENOUGH (CROWD_MOST * CROWD_EACH)

static int64_t count_now(int64_t word)
{
	return word & COUNT_MASK;
}

static int64_t count_before(int64_t word)
{
	return word >> COUNT_BITS & COUNT_MASK;
}

/* The word as it reads in this second. A rival's clock may be a moment ahead. */
static int64_t word_at(int64_t word, int64_t now)
{
	int64_t second = now / NS_PER_S & SECOND_MASK;
	int64_t age = (second - (word >> 2 * COUNT_BITS)) & SECOND_MASK;
	int64_t counts = age == 0 || age == SECOND_MASK
	                     ? word & ((INT64_C(1) << 2 * COUNT_BITS) - 1)
	                 : age == 1 ? count_now(word) << COUNT_BITS
	                            : 0;

	if (age == SECOND_MASK)
		second = (second + 1) & SECOND_MASK;
	return (int64_t)((uint64_t)second << 2 * COUNT_BITS) | counts;
}

void crowd_refused(cell64 *crowd, bool fresh, int64_t now)
{
	int64_t word = LOAD(*crowd), next;

	do {
		next = word_at(word, now);
		if (count_now(next) >= ENOUGH)
			return;
		next += lesser(fresh ? CROWD_FRESH : 1, COUNT_MASK - count_now(next));
	} while (!atomic_compare_exchange_weak_explicit(crowd, &word, next, memory_order_relaxed,
	                                                memory_order_relaxed));
}

int64_t crowd_size(const cell64 *crowd, int64_t now)
{
	int64_t word = word_at(LOAD(*crowd), now);

	return within(greater(count_before(word), count_now(word)) / CROWD_EACH, 1, CROWD_MOST);
}
