/* SPDX-License-Identifier: MIT */
/* The region of load and outage length from which a system does not recover. */
#ifndef RETRYBUDGET_TOOL_SIM_REGION_H
#define RETRYBUDGET_TOOL_SIM_REGION_H

#include "tool/sim_cells.h"

#define SIM_LOADS   11 /* 50 % to 100 % of the first server's capacity */
#define SIM_LENGTHS 8  /* 1 s to 120 s */

/* For which it is watched after the outage. */
#define SIM_REGION_WATCHED 60 /* s */

struct sim_region {
	double loads[SIM_LOADS];                 /* shares */
	int64_t lengths[SIM_LENGTHS];            /* ns */
	double recovery[SIM_LOADS][SIM_LENGTHS]; /* s, -1: never */
};

/* Plays the variant with each load and each length of its first outage. False: told to err. */
bool sim_region_play(struct sim_region *region, const struct sim_file *file,
                     const struct sim_variant *variant, const struct sim_settings *more,
                     const char *config, const char *label, int threads, FILE *err);

/* A map: how many seconds the recovery takes, or X where there is none. */
void sim_region_print(const struct sim_region *region, const char *name, FILE *out);

#endif
