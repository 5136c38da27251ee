/* SPDX-License-Identifier: MIT */
/* Whether a destination is refused so often that who does nothing but try is to be slowed down. */
#ifndef RETRYBUDGET_PACE_STORM_H
#define RETRYBUDGET_PACE_STORM_H

#include "conn/attempt.h"

/* A refusal at now: true if this destination is refused so often that who does nothing but try is
 * to be slowed down, be it by many threads or processes that make one try each. */
bool storm_rages(struct destination *destination, int64_t now);

/* As storm_rages(), of an attempt that is refused. Where it is the first of its process, and other
 * processes of its lineage were refused before, lineage_spins() says it (dest/lineage.h). */
bool storm_meets(const struct attempt *try, int64_t now);

/* True if one more connect to it may be parked at `now`, instead of redirected: never many at a
 * time, but at a black hole, where each would have waited anyway. */
bool storm_parks(struct destination *destination, int64_t now);

#endif
