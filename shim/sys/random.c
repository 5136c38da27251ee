/* SPDX-License-Identifier: MIT */
/* splitmix64 (S. Vigna, public domain), and a draw without bias. */
#include "sys/random.h"

uint64_t random_next(uint64_t *state)
{
	uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94d049bb133111eb);
	return mixed ^ mixed >> 31;
}

/* Without bias: the 2^64 mod n lowest values are drawn again (as arc4random_uniform does). They
 * are fewer than half, and splitmix64 never stays among them. */
int64_t random_upto(uint64_t *state, int64_t limit)
{
	uint64_t n = limit < 0 ? 1 : (uint64_t)limit + 1, drawn;

	do
		drawn = random_next(state);
	while (drawn < (UINT64_MAX - n + 1) % n);
	return (int64_t)(drawn % n);
}
