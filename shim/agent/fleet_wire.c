/* SPDX-License-Identifier: MIT */
/* Numbers as bytes, and back: whatever comes back is looked at before it is believed. */
#include "agent/fleet_wire.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define ANSWER 12 /* numbers */
#define RULE   7
#define WIDE   8 /* bytes of one */
#define EXACT  INT64_C(9007199254740991)

static unsigned char *put(unsigned char *at, int64_t number)
{
	const double value = (double)within(number, -EXACT, EXACT);
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits = htole64(bits);
	memcpy(at, &bits, sizeof(bits));
	return at + WIDE;
}

/* False: it is no whole number. */
static bool get(const char *at, int64_t *number)
{
	uint64_t bits;
	double value;

	memcpy(&bits, at, sizeof(bits));
	bits = le64toh(bits);
	memcpy(&value, &bits, sizeof(value));
	if (!(value >= (double)-EXACT && value <= (double)EXACT))
		return false;
	*number = (int64_t)value;
	return (double)*number == value;
}

bool wire_batch(struct wire_batch *batch, const char *prefix, const char *host)
{
	batch->labels = 0;
	batch->count = 0;
	return wire_key(batch->host, prefix, WIRE_HOST, host);
}

bool wire_batch_add(struct wire_batch *batch, const char *prefix, const char *label,
                    const struct ledger_ask *ask, int64_t generation)
{
	unsigned char *at;

	if (batch->labels == WIRE_BATCH ||
	    !wire_key(batch->keys[batch->labels], prefix, WIRE_LEDGER, label))
		return false;
	at = batch->asks[batch->labels++];
	at = put(at, ask->life);
	at = put(at, ask->number);
	at = put(at, ask->heard);
	at = put(at, ask->epoch);
	at = put(at, generation);
	for (int i = 0; i < PURSES; i++) {
		at = put(at, ask->held[i]);
		at = put(at, ask->back[i]);
		at = put(at, ask->wants[i]);
	}
	at = put(at, ask->good);
	at = put(at, ask->bad);
	at = put(at, ask->won);
	at = put(at, ask->lost);
	(void)put(at, ask->success_age);
	return true;
}

static void add(struct wire_batch *batch, const void *word, size_t n)
{
	batch->argv[batch->count] = word;
	batch->lengths[batch->count++] = n;
}

static void add_text(struct wire_batch *batch, const char *word)
{
	add(batch, word, strlen(word));
}

void wire_batch_end(struct wire_batch *batch)
{
	batch->count = 0;
	snprintf(batch->number, sizeof(batch->number), "%zu", batch->labels + 1);
	add_text(batch, "FCALL");
	add_text(batch, "retrybudget_1_sync");
	add_text(batch, batch->number);
	add_text(batch, batch->host);
	for (size_t i = 0; i < batch->labels; i++)
		add_text(batch, batch->keys[i]);
	for (size_t i = 0; i < batch->labels; i++)
		add(batch, batch->asks[i], sizeof(batch->asks[i]));
}

static bool get_rule(const char *bytes, struct fleet_rule *rule)
{
	int64_t numbers[RULE];

	for (size_t i = 0; i < RULE; i++)
		if (!get(bytes + i * WIDE, &numbers[i]))
			return false;
	*rule = (struct fleet_rule) { numbers[0], numbers[1], numbers[2], numbers[3],
		                      numbers[4], numbers[5], numbers[6] };
	return fleet_rule_is_valid(rule);
}

bool wire_answer(const char *bytes, size_t n, struct ledger_answer *answer, struct fleet_rule *rule,
                 bool *has_rule)
{
	int64_t numbers[ANSWER];

	*has_rule = false;
	*answer = (struct ledger_answer) { .status = -1 };
	if (n < WIDE || !get(bytes, &numbers[0]))
		return false;
	if (n == WIDE && (numbers[0] == LEDGER_NO_RULE || numbers[0] == LEDGER_FORGOTTEN)) {
		answer->status = numbers[0];
		return true;
	}
	if ((n != ANSWER * WIDE && n != (ANSWER + RULE) * WIDE) ||
	    (numbers[0] != LEDGER_GOOD && numbers[0] != LEDGER_STALE))
		return false;
	for (size_t i = 1; i < ANSWER; i++)
		if (!get(bytes + i * WIDE, &numbers[i]))
			return false;
	*has_rule = n > ANSWER * WIDE;
	if (*has_rule && !get_rule(bytes + ANSWER * WIDE, rule))
		return *has_rule = false;
	*answer = (struct ledger_answer) { numbers[0],  numbers[1], numbers[2],
		                           numbers[3],  numbers[4], { numbers[5], numbers[6] },
		                           numbers[7],  numbers[8], numbers[9],
		                           numbers[10], numbers[11] };
	return true;
}
