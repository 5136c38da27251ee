/* SPDX-License-Identifier: MIT */
/* Small arithmetic on 64-bit quantities, and the units of time. Pure. */
#ifndef RETRYBUDGET_SYS_ARITHMETIC_H
#define RETRYBUDGET_SYS_ARITHMETIC_H

#include <stdint.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

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

#endif
