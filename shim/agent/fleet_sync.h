/* SPDX-License-Identifier: MIT */
/* What a host asks its ledgers, one request for all labels of a server, and what they answer. */
#ifndef RETRYBUDGET_AGENT_FLEET_SYNC_H
#define RETRYBUDGET_AGENT_FLEET_SYNC_H

#include "agent/fleet.h"

/* Composes a label's request; what it gives back is not the host's from here on. waiting: cells
 * that want to retry. */
void sync_add(struct fleet_label *label, int64_t waiting, int64_t now);

/* Sends what was composed for a server since the last time, if there is anything. */
void sync_send(struct fleet *fleet, size_t link);

#endif
