/* SPDX-License-Identifier: MIT */
/* Plots of sweeps. */
#ifndef RETRYBUDGET_TOOL_SIM_PLOT_SWEEP_H
#define RETRYBUDGET_TOOL_SIM_PLOT_SWEEP_H

#include "tool/sim_cells.h"
#include "tool/sim_sweep.h"

/* Draws load, goodput, amplification and recovery by the values of the first sweep, as sim_plot()
 * does. others: so many combinations there are of the values of the others, which change faster. */
bool sim_plot_sweep(const struct sim_cell *cells, int count, const struct sim_sweep *sweep,
                    int others, const char *path, FILE *err);

/* What gnuplot is told. */
void sim_plot_sweep_script(const struct sim_cell *cells, int count, const struct sim_sweep *sweep,
                           int others, const char *path, FILE *to);

#endif
