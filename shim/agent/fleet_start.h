/* SPDX-License-Identifier: MIT */
/* The beginning and the end of this host's part of a fleet's budget. Without hiredis there is none:
 * fleet_none.c. */
#ifndef RETRYBUDGET_AGENT_FLEET_START_H
#define RETRYBUDGET_AGENT_FLEET_START_H

#include "agent/fleet.h"

/* Begins, as the file's [fleet] says; NULL: the usual file, if there is one. host: how the ledgers
 * know this machine, NULL: by its name and number. False, with a message: it cannot. *is_wanted:
 * there is a server and a label. */
bool fleet_start(struct fleet *fleet, struct event_base *base, const char *file, const char *host,
                 bool *is_wanted);

/* Gives up connections and memory; also of one that could not begin. */
void fleet_end(struct fleet *fleet);

#endif
