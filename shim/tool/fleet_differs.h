/* SPDX-License-Identifier: MIT */
/*
 * Where a host's file says another reserve, number of hosts or probe than the rule of the fleet.
 * Programs without a lease go by the file, and the bound is reckoned from the rule. Pure.
 */
#ifndef RETRYBUDGET_TOOL_FLEET_DIFFERS_H
#define RETRYBUDGET_TOOL_FLEET_DIFFERS_H

#include "budget/policy.h"
#include "tool/fleet_rule.h"

#include <stddef.h>

#define FLEET_DIFFERS 48 /* bytes that the keys take */

/* The keys whose value is another in the file than in a valid rule, with commas between them and
 * "" where all are the same, go to text[FLEET_DIFFERS]. Returns whether there is one; a rule of
 * generation 0 differs from nothing. Any thread. */
bool fleet_differs(const struct fleet_rule *rule, const struct policy *file, char *text);

#endif
