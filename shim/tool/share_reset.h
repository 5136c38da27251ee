/* SPDX-License-Identifier: MIT */
/* Filling the budgets of a share, and forgetting what has failed there, while processes use it. */
#ifndef RETRYBUDGET_TOOL_SHARE_RESET_H
#define RETRYBUDGET_TOOL_SHARE_RESET_H

#include "tool/region_file.h"

/* Resets one destination, by its name, or (NULL) all of them and the budget of the share as a
 * whole. Returns how many were reset; -1: it cannot be done, and *why is the rest of a sentence. */
int share_reset(const struct region_file *file, const char *destination, const char **why);

#endif
