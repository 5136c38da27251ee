/* SPDX-License-Identifier: MIT */
/* One round over all processes that this user may read. */
#ifndef RETRYBUDGET_AGENT_COLLECT_H
#define RETRYBUDGET_AGENT_COLLECT_H

#include "agent/exposition.h"
#include "agent/totals.h"

/* Reads every region once, adds what has come since the last round, and tells of the round itself.
 * False with errno: /proc cannot be read; nothing has been forgotten. */
bool collect(struct totals *totals, struct round *round);

#endif
