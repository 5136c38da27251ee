/* SPDX-License-Identifier: MIT */
/* Small arithmetic on 64-bit quantities, and the units of time. Pure. */
#ifndef RETRYBUDGET_SYS_ARITHMETIC_H
#define RETRYBUDGET_SYS_ARITHMETIC_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

/* A length, or a moment since the start of its clock, in ns. */
static inline int64_t ns_of(struct timespec time)
{
	return (int64_t)time.tv_sec * NS_PER_S + time.tv_nsec;
}

static inline int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* low <= high */
static inline int64_t within(int64_t value, int64_t low, int64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* by ns after now (>= 0), or INT64_MAX. */
static inline int64_t later(int64_t now, int64_t by)
{
	return by > INT64_MAX - now ? INT64_MAX : now + by;
}

/* Adds to a sum of counts, which ends at INT64_MAX. One below zero, as a corrupted word may be,
 * counts for nothing. */
static inline void add_to(int64_t *sum, int64_t count)
{
	if (count > 0 && __builtin_add_overflow(*sum, count, sum))
		*sum = INT64_MAX;
}

#endif
