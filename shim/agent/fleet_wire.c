/* SPDX-License-Identifier: MIT */
/* Numbers as text, and back. */
#include "agent/fleet_wire.h"

#define ANSWER 11 /* numbers */
#define RULE   7

bool wire_sync(struct wire_call *call, const char *prefix, const char *label, const char *host,
               const struct ledger_ask *ask, int64_t generation)
{
	if (!wire_begin(call, "retrybudget_1_sync", prefix, label, host))
		return false;
	wire_number(call, ask->life);
	wire_number(call, ask->number);
	wire_number(call, ask->heard);
	wire_number(call, ask->epoch);
	wire_number(call, generation);
	for (int i = 0; i < PURSES; i++) {
		wire_number(call, ask->held[i]);
		wire_number(call, ask->back[i]);
		wire_number(call, ask->wants[i]);
	}
	wire_number(call, ask->good);
	wire_number(call, ask->bad);
	wire_number(call, ask->success_age);
	return true;
}

bool wire_answer(const int64_t *numbers, size_t count, struct ledger_answer *answer,
                 struct fleet_rule *rule, bool *has_rule)
{
	*has_rule = false;
	*answer = (struct ledger_answer) { .status = count > 0 ? numbers[0] : -1 };
	if (count == 1 && (answer->status == LEDGER_NO_RULE || answer->status == LEDGER_FORGOTTEN))
		return true;
	if ((count != ANSWER && count != ANSWER + RULE) ||
	    (answer->status != LEDGER_GOOD && answer->status != LEDGER_STALE))
		return false;
	*answer = (struct ledger_answer) { numbers[0], numbers[1], numbers[2],
		                           numbers[3], numbers[4], { numbers[5], numbers[6] },
		                           numbers[7], numbers[8], numbers[9],
		                           numbers[10] };
	if (count == ANSWER)
		return true;
	numbers += ANSWER;
	*rule = (struct fleet_rule) { numbers[0], numbers[1], numbers[2], numbers[3],
		                      numbers[4], numbers[5], numbers[6] };
	*has_rule = fleet_rule_is_valid(rule);
	return *has_rule;
}
