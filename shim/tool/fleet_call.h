/* SPDX-License-Identifier: MIT */
/* A call of a function of conf/fleet/retrybudget.lua, and which server is called for a label. */
#ifndef RETRYBUDGET_TOOL_FLEET_CALL_H
#define RETRYBUDGET_TOOL_FLEET_CALL_H

#include "tool/fleet_rule.h"

#include <stddef.h>

#define WIRE_WORDS 12
#define WIRE_KEY   256

/* Words of a command. argv points into the rest: it must not be moved. */
struct wire_call {
	const char *argv[WIRE_WORDS];
	size_t lengths[WIRE_WORDS];
	int count;
	char keys[2][WIRE_KEY];
	char numbers[WIRE_WORDS][24];
};

enum wire_kind { WIRE_LEDGER, WIRE_HOST };

/* Keys of one prefix share a slot. key: WIRE_KEY bytes. Returns false where a name is too long. */
bool wire_key(char *key, const char *prefix, enum wire_kind kind, const char *name);

/* FCALL of a function on a host, if it is not NULL, and a label. Returns false where a name is too
 * long. */
bool wire_begin(struct wire_call *call, const char *function, const char *prefix, const char *host,
                const char *label);
void wire_number(struct wire_call *call, int64_t number);
void wire_rule(struct wire_call *call, const struct fleet_rule *rule);

/* Which of so many servers keeps the label's ledger, the same at every host. */
size_t wire_server(const char *label, size_t count);

#endif
