/* SPDX-License-Identifier: MIT */
/* What came out of cells: for people, and against what was expected. */
#ifndef RETRYBUDGET_TOOL_SIM_PRINT_H
#define RETRYBUDGET_TOOL_SIM_PRINT_H

#include "tool/sim_cells.h"

/* A row for each cell. */
void sim_print_table(const struct sim_cell *cells, int count, FILE *out);

/* How many tries reached each server for each request, where there are several. */
void sim_print_servers(const struct sim_cell *cells, int count, FILE *out);

/* The most retries of each fleet that go in any second, and that did. */
void sim_print_bounds(const struct sim_cell *cells, int count, FILE *out);

/* The steps of each cell. */
void sim_print_steps(const struct sim_cell *cells, int count, FILE *out);

/* Each number that the file expects, what came out, and how far off it is. Returns how many are
 * outside of their tolerance, or not there. */
int sim_print_expectations(const struct sim_file *file, const struct sim_cell *cells, int count,
                           FILE *out);

/* What the metrics mean. */
void sim_print_metrics(FILE *out);

#endif
