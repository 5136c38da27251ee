/* SPDX-License-Identifier: MIT */
/*
 * Redirect or park? A redirected connect fails at once, as against a host that is down: a proxy
 * turns to its next backend, a worker to its next job. A program that does nothing with that answer
 * but try again would burn its processor, so what is refused too often is parked for a second
 * instead; but never many at a time, for others may wait on the same destination.
 */
#include "pace/storm.h"

#include "dest/demand.h"
#include "dest/lineage.h"
#include "sys/second_count.h"

#define SPINS      20 /* refusals in a second, and three quarters of those before it */
#define DEMAND     10 /* refusals that go with each piece of work that the process did in it */
#define LASTING    4  /* in the long run so many seconds' worth: 1 + 3/4 + (3/4)^2 + ... */
#define PARKED     8  /* of one destination at a time, as long as anything else is well */
#define PARKED_ALL 64

#define FORGOTTEN 60 /* seconds */

static cell64 parked_in_all; /* sys/second_count.h */
static cell64 refused_here;  /* by this process, of all destinations: likewise */

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

bool storm_rages(struct destination *destination, int64_t now)
{
	int64_t own, all;

	demand_note_refusal(now);
	/* Before they are summed: workers share the destination's count, but not what each has
	 * done. */
	own = count_in_second(&refused_here, false, now);
	if (own <= DEMAND * demand_served(now))
		return false;
	all = count_in_second(&destination->refused_now, true, now);
	if (all <= SPINS)
		return false;
	/* A worker that has only begun has done nothing yet, and the pool it is of may be busy: as
	 * long as the others work, it is not one more try of theirs. */
	return own > SPINS || all > DEMAND * LASTING * demand_served_by_all(now);
}

bool storm_meets(const struct attempt *try, int64_t now)
{
	bool rages = storm_rages(try->trial.destination, now);

	return try->lineage ? lineage_spins(try->trial.destination, try->began, now) : rages;
}

bool storm_parks(struct destination *destination, int64_t now)
{
	return count_in_second(&destination->parked_now, false, now) <= PARKED &&
	       count_in_second(&parked_in_all, false, now) <= PARKED_ALL;
}
