/* SPDX-License-Identifier: MIT */
/* Refusals of a simulation: held, parked, or told at once. Inside the simulator only; times in ns.
 */
#ifndef RETRYBUDGET_TOOL_SIM_REFUSE_H
#define RETRYBUDGET_TOOL_SIM_REFUSE_H

#include "tool/sim_world.h"

/* The library does not let the try of this call go. held: it has been held for that already. */
void sim_refuse(struct sim_world *world, uint32_t call, bool held, int64_t now);

/* A call is held until its hold.row_at, and looks as often as pace/wait.c does whether the server
 * is back. */
void sim_refuse_held(struct sim_world *world, uint32_t call, int64_t now);

#endif
