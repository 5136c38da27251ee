/* SPDX-License-Identifier: MIT */
/* Maps of regions. */
#ifndef RETRYBUDGET_TOOL_SIM_PLOT_REGION_H
#define RETRYBUDGET_TOOL_SIM_PLOT_REGION_H

#include "tool/sim_region.h"

/* Draws how long the way back takes, by load and length of the outage, as sim_plot() does. At least
 * one. */
bool sim_plot_regions(const struct sim_region *regions, const char *const *names, int count,
                      const char *path, FILE *err);

/* What gnuplot is told. */
void sim_plot_region_script(const struct sim_region *regions, const char *const *names, int count,
                            const char *path, FILE *to);

#endif
