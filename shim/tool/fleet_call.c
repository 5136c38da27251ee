/* SPDX-License-Identifier: MIT */
/* Words of a call. */
#include "tool/fleet_call.h"

#include "sys/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

bool wire_key(char *key, const char *prefix, enum wire_kind kind, const char *name)
{
	static const char *const kinds[] = { [WIRE_LEDGER] = "ledger", [WIRE_HOST] = "host" };
	int n = snprintf(key, WIRE_KEY, "{%s}:%s:%s", prefix, kinds[kind], name);

	return n > 0 && n < WIRE_KEY;
}

bool wire_begin(struct wire_call *call, const char *function, const char *prefix, const char *host,
                const char *label)
{
	call->count = 0;
	if (!wire_key(call->keys[0], prefix, WIRE_LEDGER, label) ||
	    (host && !wire_key(call->keys[1], prefix, WIRE_HOST, host)))
		return false;
	add(call, "FCALL");
	add(call, function);
	add(call, host ? "2" : "1");
	if (host)
		add(call, call->keys[1]);
	add(call, call->keys[0]);
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

size_t wire_server(const char *label, size_t count)
{
	uint64_t hash = hash_bytes(HASH_START, label, strlen(label));

	return count > 0 ? (size_t)((hash ^ hash >> 32) % count) : 0;
}
