/* SPDX-License-Identifier: MIT */
/*
 * What is played: a row of cells, each a scenario and a policy of its own, on all cores. A cell's
 * result depends on nothing but the cell.
 */
#ifndef RETRYBUDGET_TOOL_SIM_CELLS_H
#define RETRYBUDGET_TOOL_SIM_CELLS_H

#include "tool/sim_policy.h"
#include "tool/sim_tally.h"

struct sim_cell {
	char name[SIM_NAME * 2]; /* of the variant, and what is swept */
	char line[SIM_NAME *
	          2]; /* the same without what is swept first: cells of one line of a plot */
	struct sim_scenario scenario;
	struct sim_policy policy;
	bool keeps_steps; /* the tally is kept, and has to be freed */
	struct sim_tally tally;
	struct sim_result result;
};

/* Fills a cell: the file's scenario and policy, and over them those of the variant (NULL: none) and
 * more settings (NULL: none). False: told to err. config: NULL for the built-in defaults. */
bool sim_cell_make(struct sim_cell *cell, const struct sim_file *file,
                   const struct sim_variant *variant, const struct sim_settings *more,
                   const char *config, const char *label, FILE *err);

/* Plays all of them on so many threads, 0: one for each core. */
void sim_cells_play(struct sim_cell *cells, int count, int threads);

/* Plays one scenario under one policy and says what comes out: what other commands ask. False:
 * there was no memory. */
bool sim_play(const struct sim_scenario *scenario, const struct sim_policy *policy,
              struct sim_result *result);

#endif
