/* SPDX-License-Identifier: MIT */
/* Plots of simulations. */
#ifndef RETRYBUDGET_TOOL_SIM_PLOT_H
#define RETRYBUDGET_TOOL_SIM_PLOT_H

#include "tool/sim_cells.h"
#include "tool/sim_region.h"

/* Draws load and goodput of each cell over time into path: SVG, or PNG or text by its name. False:
 * told to err. */
bool sim_plot(const struct sim_cell *cells, int count, const char *path, FILE *err);

/* The same of maps: how long the way back takes, by load and length of the outage. At least one. */
bool sim_plot_regions(const struct sim_region *regions, const char *const *names, int count,
                      const char *path, FILE *err);

/* What gnuplot is told. */
void sim_plot_script(const struct sim_cell *cells, int count, const char *path, FILE *to);
void sim_plot_region_script(const struct sim_region *regions, const char *const *names, int count,
                            const char *path, FILE *to);

#endif
