/* SPDX-License-Identifier: MIT */
/* Settings by name: what is to be otherwise than a scenario file has it. */
#ifndef RETRYBUDGET_TOOL_SIM_SETTINGS_H
#define RETRYBUDGET_TOOL_SIM_SETTINGS_H

#include "tool/sim_scenario.h"

#define SIM_SETTINGS 32

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
