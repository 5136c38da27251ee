/* SPDX-License-Identifier: MIT */
/*
 * A simulated fleet: at each host of a policy with fleet = on the agent's own arithmetic, and at
 * each server that is called a ledger, with messages between them that take their time, or are
 * lost. What an agent finds in /proc and in regions it finds here in the simulated programs'
 * budgets.
 */
#ifndef RETRYBUDGET_TOOL_SIM_FLEET_H
#define RETRYBUDGET_TOOL_SIM_FLEET_H

#include "tool/fleet_rule.h"
#include "tool/sim_world.h"

/* The rule that the ledgers keep. */
void sim_fleet_rule(const struct sim_scenario *scenario, const struct sim_policy *policy,
                    struct fleet_rule *rule);

/* False if the policy draws on a fleet, and keeps more back than the fleet may send. */
bool sim_fleet_fits(const struct sim_scenario *scenario, const struct sim_policy *policy);

/* Nothing to do where the policy draws on none. False: there was no memory. */
bool sim_fleet_start(struct sim_world *world);
void sim_fleet_free(struct sim_world *world);

/* SIM_LOOK, SIM_ASKED or SIM_TOLD. */
void sim_fleet_happens(struct sim_world *world, const struct sim_event *event);

#endif
