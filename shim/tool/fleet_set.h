/* SPDX-License-Identifier: MIT */
/* The rule of a fleet's budget from words as "floor=20/s", in the keys of retrybudget(5). */
#ifndef RETRYBUDGET_TOOL_FLEET_SET_H
#define RETRYBUDGET_TOOL_FLEET_SET_H

#include "config/config.h"
#include "tool/fleet_rule.h"

/* Fills *rule: what is not said of capacity and floor is as in *before (generation 0: there is
 * none), of fleet_reserve, probe, fleet_n_max and lease as the file has it for the policy, by which
 * the programs live. False, told on stderr with a remedy: that makes no rule. */
bool fleet_set_rule(const struct config *config, int policy, const struct fleet_rule *before,
                    char **words, int count, struct fleet_rule *rule);

/* Prints what a rule that holds means: the bound, and how long a whole fleet takes to come back.
 * sync: ns, at which hosts ask. */
void fleet_set_tell(const struct fleet_rule *rule, int64_t sync);

#endif
