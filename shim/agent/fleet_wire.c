/* SPDX-License-Identifier: MIT */
/* Numbers as text, and back. */
#include "agent/fleet_wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ANSWER 11 /* numbers */
#define RULE   7

static void add(struct wire_call *call, const char *word)
{
	call->argv[call->count] = word;
	call->lengths[call->count++] = strlen(word);
}

void wire_number(struct wire_call *call, int64_t number)
{
	char *text = call->numbers[call->count];

	snprintf(text, sizeof(call->numbers[0]), "%" PRId64, number);
	add(call, text);
}

static bool key_of(char *key, const char *prefix, const char *label, const char *host)
{
	int n = host ? snprintf(key, WIRE_KEY, "%s:{%s}:host:%s", prefix, label, host)
	             : snprintf(key, WIRE_KEY, "%s:{%s}", prefix, label);

	return n > 0 && n < WIRE_KEY;
}

bool wire_begin(struct wire_call *call, const char *function, const char *prefix, const char *label,
                const char *host)
{
	call->count = 0;
	if (!key_of(call->keys[0], prefix, label, NULL) ||
	    (host && !key_of(call->keys[1], prefix, label, host)))
		return false;
	add(call, "FCALL");
	add(call, function);
	add(call, host ? "2" : "1");
	add(call, call->keys[0]);
	if (host)
		add(call, call->keys[1]);
	return true;
}

void wire_rule(struct wire_call *call, const struct fleet_rule *rule)
{
	wire_number(call, rule->generation);
	wire_number(call, rule->capacity);
	wire_number(call, rule->floor);
	wire_number(call, rule->probe);
	wire_number(call, rule->hosts);
	wire_number(call, rule->leased);
	wire_number(call, rule->lifetime);
}

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
