/* SPDX-License-Identifier: MIT */
/*
 * The rule that a ledger tells a host, and the one that the host knows from before. A server that
 * comes from an older copy, or a replica without the last writes, has an older rule than its hosts:
 * they remember theirs, take the less of what both lend, and have the ledger make of both the rule
 * that holds. What they remember they only forget when one is set that is newer. Pure.
 */
#ifndef RETRYBUDGET_AGENT_FLEET_RULES_H
#define RETRYBUDGET_AGENT_FLEET_RULES_H

#include "tool/ledger.h"

struct fleet_rules {
	struct fleet_rule told;  /* as the ledger told it last; generation 0: none */
	struct fleet_rule newer; /* one that it told before, and not last; generation 0: none */
	bool is_answered;        /* the ledger has been asked to make of both one */
};

/* The ledger tells its rule; generation 0: it was forgotten, and so is what the host knows. */
void rules_tell(struct fleet_rules *rules, const struct fleet_rule *told);

/* The newest that the host knows. */
const struct fleet_rule *rules_newest(const struct fleet_rules *rules);

/* The generation of a rule that the ledger has lost, and has none like it; 0: it has not. */
int64_t rules_lost(const struct fleet_rules *rules);

/* The ledger lets go what the lost rule does not, and has not been asked yet to make of both one.
 */
bool rules_are_owed(const struct fleet_rules *rules);

/* Leaves of a grant the less of what both lend. Of probes all or none. */
void rules_hold(const struct fleet_rules *rules, struct ledger_answer *answer);

#endif
