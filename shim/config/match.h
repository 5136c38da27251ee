/* SPDX-License-Identifier: MIT */
/* Which pattern a destination gets. */
#ifndef RETRYBUDGET_CONFIG_MATCH_H
#define RETRYBUDGET_CONFIG_MATCH_H

#include "config/pattern.h"

/* The policy index for a target: the most specific pattern wins, then the first in the file. */
int config_match(const struct config *config, const struct target *target);

/* The index of the pattern that wins for a target, -1 if none fits. */
int pattern_find(const struct config *config, const struct target *target);

/* Adds the pattern as an operator would write it. */
void pattern_print(const struct config *config, int pattern, struct text *out);

#endif
