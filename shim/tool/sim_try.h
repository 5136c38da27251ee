/* SPDX-License-Identifier: MIT */
/* The tries of the calls of a simulation. Inside the simulator only; times in ns. */
#ifndef RETRYBUDGET_TOOL_SIM_TRY_H
#define RETRYBUDGET_TOOL_SIM_TRY_H

#include "tool/sim_world.h"

/* The program makes the next try of this call. */
void sim_try_now(struct sim_world *world, uint32_t call, int64_t now);

/* Something happens to the call event->who: any of enum sim_what from SIM_TRY to
 * SIM_WRITE. */
void sim_try_happens(struct sim_world *world, const struct sim_event *event);

#endif
