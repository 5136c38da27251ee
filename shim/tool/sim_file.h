/* SPDX-License-Identifier: MIT */
/*
 * A scenario file: the scenario, lines for the policy, and under names what else is to be played
 * (variants) and what should come out (expectations).
 */
#ifndef RETRYBUDGET_TOOL_SIM_FILE_H
#define RETRYBUDGET_TOOL_SIM_FILE_H

#include "tool/sim_scenario.h"

#define SIM_SETTINGS     32
#define SIM_VARIANTS     24
#define SIM_EXPECTATIONS 64
#define SIM_TEXT         160

/* "clients.rate", "server.db.capacity", "policy.floor", "budget.capacity": a section, perhaps its
 * label, and a key. */
struct sim_setting {
	char name[SIM_NAME * 2], value[SIM_NAME];
	const char *path; /* where it stands; NULL: on the command line */
	int line;
};

/* Of two settings of one name the later one holds. */
struct sim_settings {
	int count;
	const char *path; /* of what is put next, see above */
	int line;
	struct sim_setting all[SIM_SETTINGS];
};

struct sim_variant {
	char name[SIM_NAME];
	struct sim_settings settings;
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

/* Adds a setting, or replaces the one of that name. False, and why: there is no room. */
bool sim_settings_put(struct sim_settings *settings, const char *name, const char *value,
                      struct text *why);

/* True if it is one of the policy's, not of the scenario's. */
bool sim_setting_is_policy(const char *name);

/* The setting of that name, or NULL. */
const struct sim_setting *sim_settings_find(const struct sim_settings *settings, const char *name);

/* Sets what concerns the scenario. NULL, or the first that cannot be, and why. */
const struct sim_setting *sim_settings_apply(const struct sim_settings *settings,
                                             struct sim_scenario *scenario, struct text *why);

#endif
