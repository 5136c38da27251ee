/* SPDX-License-Identifier: MIT */
/* Plays a scenario under a policy in virtual time. Equal seeds give equal results. */
#ifndef RETRYBUDGET_TOOL_SIM_RUN_H
#define RETRYBUDGET_TOOL_SIM_RUN_H

#include "tool/sim_library.h"
#include "tool/sim_tally.h"

/* False: there was no memory. The tally is begun here, and has to be freed by the caller. */
bool sim_run(const struct sim_scenario *scenario, const struct sim_policy *policy,
             struct sim_tally *tally);

#endif
