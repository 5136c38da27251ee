/* SPDX-License-Identifier: MIT */
/* Which series has which of the places that a struct totals has. */
#ifndef RETRYBUDGET_AGENT_SERIES_H
#define RETRYBUDGET_AGENT_SERIES_H

#include "agent/totals.h"

/* The one of those names, or series[0], where it has no place. has_news: it has counted something.
 * Once places were too few nobody else is given one: what is idle would take again what it has
 * lost.
 */
struct series *series_of(struct totals *totals, const char *program, const char *destination,
                         const char *policy, bool has_news);

/* Places of those that have counted nothing for TOTALS_IDLE become free. now: s. */
void series_make_room(struct totals *totals, double now);

#endif
