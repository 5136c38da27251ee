/* SPDX-License-Identifier: MIT */
/* Sweeps: one key with several values. */
#ifndef RETRYBUDGET_TOOL_SIM_SWEEP_H
#define RETRYBUDGET_TOOL_SIM_SWEEP_H

#include "tool/sim_file.h"

#define SIM_SWEEPS       3
#define SIM_SWEEP_VALUES 32
#define SIM_SWEEP_POINTS 6 /* of a range that does not say how many */

struct sim_sweep {
	char name[SIM_NAME];
	int count;
	char values[SIM_SWEEP_VALUES][24];
};

/* "KEY=0.1/s,1/s,5/s", or "KEY=0.1..5/s", or "KEY=10%..50%:5": so many points, evenly, or by equal
 * factors where the ends are more than a factor of ten apart. What is a rate needs no "/s". False:
 * told to err. */
bool sim_sweep_read(struct sim_sweep *sweep, const char *text, FILE *err);

#endif
