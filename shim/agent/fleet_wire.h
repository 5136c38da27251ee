/* SPDX-License-Identifier: MIT */
/* Requests and answers as they travel to and from conf/fleet/retrybudget.lua: numbers as doubles,
 * the lowest byte first, which hold each of them exactly. */
#ifndef RETRYBUDGET_AGENT_FLEET_WIRE_H
#define RETRYBUDGET_AGENT_FLEET_WIRE_H

#include "config/config.h"
#include "tool/fleet_call.h"
#include "tool/ledger.h"

#define WIRE_BATCH CONFIG_POLICIES /* labels in one request */
#define WIRE_ASK   16              /* numbers */

/* A sync of some labels. argv points into the rest: it must not be moved. */
struct wire_batch {
	const char *argv[4 + 2 * WIRE_BATCH];
	size_t lengths[4 + 2 * WIRE_BATCH];
	int count;
	size_t labels;
	char number[8], host[WIRE_KEY];
	char keys[WIRE_BATCH][WIRE_KEY];
	unsigned char asks[WIRE_BATCH][WIRE_ASK * 8];
};

/* Without labels yet. Returns false where a name is too long. */
bool wire_batch(struct wire_batch *batch, const char *prefix, const char *host);

/* One more label. generation: of the rule that the host knows. Returns false where a name is too
 * long, or the batch is full. */
bool wire_batch_add(struct wire_batch *batch, const char *prefix, const char *label,
                    const struct ledger_ask *ask, int64_t generation);

/* Its words are complete. */
void wire_batch_end(struct wire_batch *batch);

/* The answer for one label, and the rule behind it, if there is one. False: it is none. */
bool wire_answer(const char *bytes, size_t n, struct ledger_answer *answer, struct fleet_rule *rule,
                 bool *has_rule);

#endif
