/* SPDX-License-Identifier: MIT */
/* By the numbers of rules, which are the times at which they were set. */
#include "agent/fleet_rules.h"

const struct fleet_rule *rules_newest(const struct fleet_rules *rules)
{
	return rules->newer.generation > 0 ? &rules->newer : &rules->told;
}

void rules_tell(struct fleet_rules *rules, const struct fleet_rule *told)
{
	const struct fleet_rule newest = *rules_newest(rules);

	/* A rule that was made of two may have the number of the one that was lost. */
	if (told->generation == 0 || told->generation > newest.generation ||
	    (told->generation == newest.generation && fleet_rule_is_same(told, &newest)))
		rules->newer = (struct fleet_rule) { 0 };
	else
		rules->newer = newest;
	rules->told = *told;
	rules->is_answered = false;
}

int64_t rules_lost(const struct fleet_rules *rules)
{
	return rules->newer.generation > 0 && !fleet_rule_is_same(&rules->newer, &rules->told)
	           ? rules->newer.generation
	           : 0;
}

bool rules_are_owed(const struct fleet_rules *rules)
{
	const struct fleet_rule both = fleet_rule_merged(&rules->told, &rules->newer);

	return rules_lost(rules) > 0 && !rules->is_answered &&
	       !fleet_rule_is_same(&both, &rules->told);
}

void rules_hold(const struct fleet_rules *rules, struct ledger_answer *answer)
{
	if (rules_lost(rules) == 0)
		return;
	answer->grant[PURSE_TOKENS] =
	    fleet_stricter(within(answer->grant[PURSE_TOKENS], 0, FLEET_CAPACITY_MOST),
	                   &rules->told, &rules->newer);
	if (rules->newer.probe > rules->told.probe)
		answer->grant[PURSE_PROBES] = 0;
}
