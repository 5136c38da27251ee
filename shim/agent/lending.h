/* SPDX-License-Identifier: MIT */
/* How the cells of this host's programs come by their parts of what it holds. */
#ifndef RETRYBUDGET_AGENT_LENDING_H
#define RETRYBUDGET_AGENT_LENDING_H

#include "agent/host_demand.h"

/*
 * Divides what this host holds for a label among its cells, and writes it: whole tokens to who
 * wants some, max-min fair by user and then by cell, in turn where there are fewer than cells; then
 * a few to those who do not yet; probes to who waits, one each, in turn. The rest stays unlent.
 * Call after each round, and after each change of the lease: what was divided before is void.
 *
 * host: what the host held at the last round, less what that has told as spent, and what it has
 * got since. What is spent after the round is taken off here, and told by the next.
 *
 * Cells shrink before others grow: together they never hold more. Who is gone holds nothing; a cell
 * that cannot be written holds what it has until that runs out.
 *
 * Returns the mt that the cells hold now, which is more than the host has only where a cell could
 * not be made to shrink; or -1: no memory, and nothing was written.
 */
int64_t demand_lend(struct demand *demand, const char *label, const struct lease_grant *host,
                    int64_t now);

#endif
