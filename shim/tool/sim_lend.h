/* SPDX-License-Identifier: MIT */
/*
 * The cells of one host of a simulated fleet: what its agent sees of them, and how it divides among
 * them what it holds. Inside the simulator only; moments as the budgets have them.
 */
#ifndef RETRYBUDGET_TOOL_SIM_LEND_H
#define RETRYBUDGET_TOOL_SIM_LEND_H

#include "region/lease.h"
#include "tool/asker.h"
#include "tool/fair.h"
#include "tool/sim_world.h"

/* One cell, as its agent has seen it last, and what it may hold since. */
struct sim_lent {
	int64_t retries, good, bad, won, lost, spent, probed;
	int64_t held, held_probes;
	int64_t wants;
	bool is_waiting, in_use;
};

/* Of every so many units of a caller one is this host's. */
struct sim_here {
	struct sim_unit *units;
	struct sim_lent *lent;
	uint32_t count, step;
};

/* hosts: of that caller; each host has every so many of its units. */
struct sim_here sim_here_of(const struct sim_world *world, uint32_t caller, uint32_t host,
                            uint32_t hosts);

/* What they did since the last look, time ns ago, is added to seen. */
void sim_lend_look(const struct sim_here *here, int64_t time, int64_t now, struct asker_seen *seen);

/* Divides a grant among them. claims: room for as many. */
void sim_lend(const struct sim_here *here, const struct lease_grant *grant, uint32_t turn,
              struct claim *claims, int64_t now);

#endif
