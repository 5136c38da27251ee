/* SPDX-License-Identifier: MIT */
/* Plots of simulations over time. */
#ifndef RETRYBUDGET_TOOL_SIM_PLOT_H
#define RETRYBUDGET_TOOL_SIM_PLOT_H

#include "tool/sim_cells.h"

/* Draws load, goodput and amplification of each cell, its outages and its return into path: SVG, or
 * PNG or text by its name. False: told to err. */
bool sim_plot(const struct sim_cell *cells, int count, const char *path, FILE *err);

/* What gnuplot is told. */
void sim_plot_script(const struct sim_cell *cells, int count, const char *path, FILE *to);

#endif
