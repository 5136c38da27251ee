/* SPDX-License-Identifier: MIT */
/* Whether a destination is refused so often that who does nothing but try is to be slowed down. */
#ifndef RETRYBUDGET_PACE_STORM_H
#define RETRYBUDGET_PACE_STORM_H

#include "conn/attempt.h"

/* A refusal at now: true if this destination is refused so often that who does nothing but try is
 * to be slowed down, be it by many threads or processes that make one try each. */
bool storm_rages(struct destination *destination, int64_t now);

/* The same of an attempt that may not go: where it is the first of a process in a lineage of such,
 * their row says it (dest/lineage.h). */
bool storm_meets(const struct attempt *try, int64_t now);

/* True if one more connect to it may be parked instead of redirected. */
bool storm_parks(struct destination *destination, int64_t now);

#endif
