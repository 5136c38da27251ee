/* SPDX-License-Identifier: MIT */
/* The policy of a simulation: a configuration file's section, and settings over it. */
#ifndef RETRYBUDGET_TOOL_SIM_POLICY_H
#define RETRYBUDGET_TOOL_SIM_POLICY_H

#include "tool/sim_file.h"
#include "tool/sim_library.h"

/* path: NULL for the built-in defaults. label: of the [destination] section. False if the file, the
 * label or a setting is not good: told to err. */
bool sim_policy_read(struct sim_policy *policy, const char *path, const char *label,
                     const struct sim_settings *settings, FILE *err);

#endif
