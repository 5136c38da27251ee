/* SPDX-License-Identifier: MIT */
/*
 * A scenario file: the scenario, lines for the policy, and under names what else is to be played
 * (variants) and what should come out (expectations).
 */
#ifndef RETRYBUDGET_TOOL_SIM_FILE_H
#define RETRYBUDGET_TOOL_SIM_FILE_H

#include "tool/sim_settings.h"

#define SIM_VARIANTS     24
#define SIM_EXPECTATIONS 64
#define SIM_TEXT         160

struct sim_variant {
	char name[SIM_NAME];
	struct sim_settings settings;
	int line; /* of its section */
};

/* A number that should come out: within `tolerance` (a share of it) of `value`, or at most or at
 * least that (kind '<' or '>'). */
struct sim_expectation {
	char variant[SIM_NAME], metric[SIM_NAME];
	char kind;
	double value, tolerance;
	int line;
};

struct sim_file {
	char about[SIM_TEXT];
	const char *path;
	int fleet_line; /* of [fleet], or of its floor; 0: it says nothing of it */
	struct sim_scenario scenario, tried;
	struct sim_settings settings; /* of [policy] and [budget] */
	int variant_count, expectation_count;
	struct sim_variant variants[SIM_VARIANTS];
	struct sim_expectation expectations[SIM_EXPECTATIONS];
};

/* Reads a scenario file. False if any line is bad: each is told to err with file, line and remedy.
 */
bool sim_file_read(struct sim_file *file, const char *path, FILE *err);

#endif
