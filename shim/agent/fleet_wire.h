/* SPDX-License-Identifier: MIT */
/* Requests and answers as they travel to and from conf/fleet/retrybudget.lua. */
#ifndef RETRYBUDGET_AGENT_FLEET_WIRE_H
#define RETRYBUDGET_AGENT_FLEET_WIRE_H

#include "agent/ledger.h"

#include <stddef.h>

#define WIRE_WORDS 24
#define WIRE_KEY   256
#define WIRE_PORT  6379

/* Words of a command. argv points into the rest: it must not be moved. */
struct wire_call {
	const char *argv[WIRE_WORDS];
	size_t lengths[WIRE_WORDS];
	int count;
	char keys[2][WIRE_KEY];
	char numbers[WIRE_WORDS][24];
};

/* FCALL of a function on a label; host: its key too, NULL: without. Returns false where a name is
 * too long. */
bool wire_begin(struct wire_call *call, const char *function, const char *prefix, const char *label,
                const char *host);
void wire_number(struct wire_call *call, int64_t number);
void wire_rule(struct wire_call *call, const struct fleet_rule *rule);

/* All of a sync. generation: of the rule that the host knows. */
bool wire_sync(struct wire_call *call, const char *prefix, const char *label, const char *host,
               const struct ledger_ask *ask, int64_t generation);

/* The numbers of an answer to it, and of the rule behind it, if there is one. False: it is none. */
bool wire_answer(const int64_t *numbers, size_t count, struct ledger_answer *answer,
                 struct fleet_rule *rule, bool *has_rule);

#endif
