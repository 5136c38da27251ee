/* SPDX-License-Identifier: MIT */
/* Of which counts a storm is made (pace/storm.h), whoever keeps them: also of the simulator. The
 * cells are second counts (sys/second_count.h), all-zero at first. Times in ns. */
#ifndef RETRYBUDGET_PACE_STORM_COUNTS_H
#define RETRYBUDGET_PACE_STORM_COUNTS_H

#include "sys/cell.h"

/* A refusal at `now`, counted in `here`, those of this process, and `there`, those at this
 * destination. served: pieces of work that the process did in a second; by_all: where those of all
 * who share the destination are counted, a line of a cache that is looked at only if it decides.
 * True: it is one of a storm. */
bool storm_counts_refusal(cell64 *here, cell64 *there, int64_t served, const cell64 by_all[2],
                          int64_t now);

/* One more is to be parked at `now`, counted in `there` and `here` as above. True if that may be.
 */
bool storm_counts_parked(cell64 *there, cell64 *here, int64_t now);

#endif
