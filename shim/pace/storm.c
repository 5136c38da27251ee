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
#include "pace/storm_counts.h"
#include "region/state.h"

/* By this process, of all destinations: sys/second_count.h. */
static cell64 parked_in_all, refused_here;

bool storm_rages(struct destination *destination, int64_t now)
{
	demand_note_refusal(now);
	return storm_counts_refusal(&refused_here, &destination->refused_now, demand_served(now),
	                            shim_region->served, now);
}

bool storm_meets(const struct attempt *try, int64_t now)
{
	bool rages = storm_rages(try->trial.destination, now);

	return try->lineage ? lineage_spins(try->trial.destination, try->began, now) : rages;
}

bool storm_parks(struct destination *destination, int64_t now)
{
	/* At a black hole who may go waits as well, until his own timeout runs out; and that ends a
	 * park as soon. */
	if (LOAD(destination->last_unmet) && LOAD(destination->last_failure) == FAILURE_TIMEOUT)
		return true;
	return storm_counts_parked(&destination->parked_now, &parked_in_all, now);
}
