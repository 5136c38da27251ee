/* SPDX-License-Identifier: MIT */
/* Plots of simulations. */
#ifndef RETRYBUDGET_TOOL_SIM_PLOT_H
#define RETRYBUDGET_TOOL_SIM_PLOT_H

#include "tool/sim_cells.h"
#include "tool/sim_region.h"
#include "tool/sim_sweep.h"

/* Each draws into path: SVG, or PNG or text by its name. False: told to err. */

/* Load, goodput and amplification of each cell over time, its outages and its return. */
bool sim_plot(const struct sim_cell *cells, int count, const char *path, FILE *err);

/* Load, goodput, amplification and recovery by the values of the first sweep. others: so many
 * combinations there are of the values of the others; the first one's change slower. */
bool sim_plot_sweep(const struct sim_cell *cells, int count, const struct sim_sweep *sweep,
                    int others, const char *path, FILE *err);

/* Maps: how long the way back takes, by load and length of the outage. At least one. */
bool sim_plot_regions(const struct sim_region *regions, const char *const *names, int count,
                      const char *path, FILE *err);

/* What gnuplot is told. */
void sim_plot_script(const struct sim_cell *cells, int count, const char *path, FILE *to);
void sim_plot_sweep_script(const struct sim_cell *cells, int count, const struct sim_sweep *sweep,
                           int others, const char *path, FILE *to);
void sim_plot_region_script(const struct sim_region *regions, const char *const *names, int count,
                            const char *path, FILE *to);

#endif
