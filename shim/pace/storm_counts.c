/* SPDX-License-Identifier: MIT */
/* How many refusals are a storm, and how many connects of it may be parked. */
#include "pace/storm_counts.h"

#include "dest/demand.h"
#include "sys/arithmetic.h"
#include "sys/second_count.h"

#define SPINS      20 /* refusals in a second, and three quarters of those before it */
#define DEMAND     10 /* refusals that go with each piece of work that the process did in it */
#define LASTING    4  /* in the long run so many seconds' worth: 1 + 3/4 + (3/4)^2 + ... */
#define PARKED     8  /* of one destination at a time, as long as anything else is well */
#define PARKED_ALL 64

#define FORGOTTEN 60 /* seconds */

/* Counts one in the cell's second. Of what was counted before three quarters count on in each, if
 * `lasts`: a loop that was parked for a second comes back to a few refusals, not to twenty. Returns
 * the count. */
static int64_t count_in_second(cell64 *cell, bool lasts, int64_t now)
{
	int64_t second = now / NS_PER_S, seen = atomic_load(cell), next;

	do {
		int64_t count = count_of(seen), age = second - second_of(seen);

		if (age < 0 || age > FORGOTTEN || (age > 0 && !lasts))
			count = 0;
		for (; age > 0 && count > 0; age--)
			count = count * 3 / 4;
		next = second_count_more(second_count(second, count));
	} while (!atomic_compare_exchange_weak(cell, &seen, next));
	return count_of(next);
}

bool storm_counts_refusal(cell64 *here, cell64 *there, int64_t served, const cell64 by_all[2],
                          int64_t now)
{
	/* Before they are summed: workers share the destination's count, but not what each has
	 * done. */
	int64_t own = count_in_second(here, false, now), all;

	if (own <= DEMAND * served)
		return false;
	all = count_in_second(there, true, now);
	if (all <= SPINS)
		return false;
	/* A worker that has only begun has done nothing yet, and the pool it is of may be busy: as
	 * long as the others work, it is not one more try of theirs. */
	return own > SPINS || all > DEMAND * LASTING * demand_most_of(by_all, now);
}

bool storm_counts_parked(cell64 *there, cell64 *here, int64_t now)
{
	return count_in_second(there, false, now) <= PARKED &&
	       count_in_second(here, false, now) <= PARKED_ALL;
}
