/* SPDX-License-Identifier: MIT */
/*
 * Connections that were lost at once, as when a server starts anew, and the spreading of those that
 * replace them. SPREAD_MANY losses within a second, and more than twice as many as is usual, begin
 * a time of `over` ns in which as many reconnects as connections were lost each draw a delay that
 * ends within it; others go at once.
 *
 * All functions: thread-safe, async-signal-safe, pure. All-zero is valid, as is any bit pattern; a
 * death at any instruction loses one count.
 */
#ifndef RETRYBUDGET_BUDGET_SPREAD_H
#define RETRYBUDGET_BUDGET_SPREAD_H

#include "sys/cell.h"

#include <stdbool.h>

#define SPREAD_MANY 5

struct spread {
	cell64 counted; /* losses in a second (sys/second_count.h) */
	cell64 usual;   /* losses in one second before, fading by half with each */
	cell64 began;   /* ns, when many were lost at once, 0 = never */
	cell64 left;    /* reconnects that are still to be spread */
};

/* A connection was lost: one that had been kept, and that the peer ended while it was idle. True:
 * with this one a time of spreading begins. */
bool spread_lost(struct spread *spread, int64_t over, int64_t now);

/* ns that a connect which answers no failure has to wait; 0 = none. Takes one of those that are
 * left. */
int64_t spread_delay(struct spread *spread, int64_t over, int64_t now, uint64_t *random);

/* A process makes its first try: of those of one second all but `burst` are spread over `over` ns.
 * Returns how long this one waits. starts: how many came in a second (sys/second_count.h).
 * *first_of_many: with this one there are more than `burst` in it. */
int64_t spread_start(cell64 *starts, int64_t burst, int64_t over, int64_t now, uint64_t *random,
                     bool *first_of_many);

#endif
