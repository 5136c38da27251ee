/* SPDX-License-Identifier: MIT */
/* What came out of cells, for programs. */
#ifndef RETRYBUDGET_TOOL_SIM_JSON_H
#define RETRYBUDGET_TOOL_SIM_JSON_H

#include "tool/sim_cells.h"

/* Prints all of them as one document. False: there is no JSON in this build, or no memory. */
bool sim_print_json(const struct sim_cell *cells, int count, FILE *out);

#endif
