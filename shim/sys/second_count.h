/* SPDX-License-Identifier: MIT */
/* How many came in one second of the clock, and which second that was: in one word, so that threads
 * and processes count in it by a compare-and-swap. Zero is a count of none. */
#ifndef RETRYBUDGET_SYS_SECOND_COUNT_H
#define RETRYBUDGET_SYS_SECOND_COUNT_H

#include <stdint.h>

#define SECOND_COUNT_BITS 24
#define SECOND_COUNT_MOST ((INT64_C(1) << SECOND_COUNT_BITS) - 1)

/* The word. count: from 0 to SECOND_COUNT_MOST. */
static inline int64_t second_count(int64_t second, int64_t count)
{
	return second << SECOND_COUNT_BITS | count;
}

static inline int64_t second_of(int64_t word)
{
	return word >> SECOND_COUNT_BITS;
}

static inline int64_t count_of(int64_t word)
{
	return word & SECOND_COUNT_MOST;
}

/* One more in the same second, if it has room. */
static inline int64_t second_count_more(int64_t word)
{
	return word + (count_of(word) < SECOND_COUNT_MOST);
}

/* The word with one more in that second: in another one than the word's a count begins. */
static inline int64_t second_count_add(int64_t word, int64_t second)
{
	return second_of(word) == second ? second_count_more(word) : second_count(second, 1);
}

/* How many came in that second. */
static inline int64_t second_count_at(int64_t word, int64_t second)
{
	return second_of(word) == second ? count_of(word) : 0;
}

#endif
