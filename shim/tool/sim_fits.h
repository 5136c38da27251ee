/* SPDX-License-Identifier: MIT */
/* Whether what a scenario says can be played. */
#ifndef RETRYBUDGET_TOOL_SIM_FITS_H
#define RETRYBUDGET_TOOL_SIM_FITS_H

#include "tool/sim_scenario.h"

/* False, with the reason and the remedy added to why, if its parts do not fit together; *line: of
 * the section that is to be changed, 0 if that is missing. */
bool sim_scenario_fits(const struct sim_scenario *scenario, int *line, struct text *why);

#endif
