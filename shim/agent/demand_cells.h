/* SPDX-License-Identifier: MIT */
/* The cells of two rounds: those of the last are found by what they are of. */
#ifndef RETRYBUDGET_AGENT_DEMAND_CELLS_H
#define RETRYBUDGET_AGENT_DEMAND_CELLS_H

#include "agent/host_demand.h"

/* False: no memory. */
bool demand_cells_start(struct demand *demand);
void demand_cells_end(struct demand *demand);

/* What was found becomes what was before. False: no memory. */
bool demand_cells_turn(struct demand *demand);

/* The round has failed: what was before is what was found last, again. */
void demand_cells_turn_back(struct demand *demand);

/* One more of this round, all zeroes. Those that it gave out before may move. NULL: no memory. */
struct demand_cell *demand_cell_add(struct demand *demand);

/* The same one at the round before, or NULL. */
struct demand_cell *demand_cell_before(const struct demand *demand, const struct demand_cell *cell);

/* Of region, slot and key. */
uint64_t demand_cell_hash(const struct demand_cell *cell);

#endif
