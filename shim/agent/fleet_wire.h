/* SPDX-License-Identifier: MIT */
/* Requests and answers as they travel to and from conf/fleet/retrybudget.lua. */
#ifndef RETRYBUDGET_AGENT_FLEET_WIRE_H
#define RETRYBUDGET_AGENT_FLEET_WIRE_H

#include "agent/ledger.h"
#include "tool/fleet_call.h"

/* All of a sync. generation: of the rule that the host knows. */
bool wire_sync(struct wire_call *call, const char *prefix, const char *label, const char *host,
               const struct ledger_ask *ask, int64_t generation);

/* The numbers of an answer to it, and of the rule behind it, if there is one. False: it is none. */
bool wire_answer(const int64_t *numbers, size_t count, struct ledger_answer *answer,
                 struct fleet_rule *rule, bool *has_rule);

#endif
