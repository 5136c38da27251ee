/* SPDX-License-Identifier: MIT */
/* The rule of a label as its server tells it, and as the server is told it where it has lost it. */
#ifndef RETRYBUDGET_AGENT_FLEET_RESTORE_H
#define RETRYBUDGET_AGENT_FLEET_RESTORE_H

#include "agent/fleet.h"

/* The server tells its rule; generation 0: it was forgotten. What that changes is recorded. */
void restore_hear(struct fleet_label *label, const struct fleet_rule *rule);

/* After an answer of the server, which has no rule: it gets the newest that this host knows. */
void restore_lost(struct fleet_label *label, int64_t now);

/* After one that lends by an older rule: it is to make one of both, if that lets less go. */
void restore_stricter(struct fleet_label *label, int64_t now);

#endif
