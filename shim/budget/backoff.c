/* SPDX-License-Identifier: MIT */
/*
 * Backoff and jitter. Integers only: a program may have unmasked floating-point traps
 * (feenableexcept), and then an inexact division in here would kill it with SIGFPE.
 */
#include "budget/backoff.h"

#define FACTOR_ONE 1000 /* factors are counted in thousandths */

static int64_t random_between(uint64_t *state, int64_t low, int64_t high)
{
	return high <= low ? low : low + random_upto(state, high - low);
}

/* The power is a loop that ends at cap: seven rounds with the defaults, some 35,000 for the
 * flattest curve there is (factor 1.001 from 1 ns to a day). Rounded up, so that every round
 * grows and the loop ends even from 1 ns. */
int64_t backoff_ceiling(const struct backoff_rule *rule, int64_t streak)
{
	uint64_t cap = (uint64_t)greater(rule->cap, 0);
	uint64_t value = (uint64_t)greater(rule->base, 0);
	uint64_t factor = (uint64_t)greater(rule->factor, FACTOR_ONE);

	if (value == 0 || factor == FACTOR_ONE)
		streak = 0;
	for (; streak > 0 && value < cap; streak--) {
		if (value > (UINT64_MAX - FACTOR_ONE) / factor)
			return (int64_t)cap;
		value = (value * factor + FACTOR_ONE - 1) / FACTOR_ONE;
	}
	return (int64_t)(value < cap ? value : cap);
}

static int64_t decorrelated(const struct backoff_rule *rule, int64_t previous, uint64_t *random)
{
	int64_t base = greater(rule->base, 0), high;

	/* Corrupted if above cap: none is ever drawn there. */
	previous = greater(lesser(previous, rule->cap), base);
	high = previous > INT64_MAX / 3 ? INT64_MAX : 3 * previous;
	return random_between(random, base, high);
}

int64_t backoff_delay(const struct backoff_rule *rule, int64_t streak, int64_t previous,
                      uint64_t *random)
{
	int64_t min = greater(rule->min, 0), delay;

	switch ((enum jitter)rule->jitter) {
	case JITTER_NONE:
		delay = backoff_ceiling(rule, streak);
		break;
	case JITTER_EQUAL:
		delay = backoff_ceiling(rule, streak);
		delay = delay - delay / 2 + random_upto(random, delay / 2);
		break;
	case JITTER_DECORRELATED:
		delay = decorrelated(rule, previous, random);
		break;
	case JITTER_FULL:
	default:
		delay = random_between(random, min, backoff_ceiling(rule, streak));
		break;
	}
	return greater(lesser(delay, rule->cap), min);
}
