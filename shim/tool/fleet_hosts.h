/* SPDX-License-Identifier: MIT */
/* The hosts that a ledger has leased something to, as `retrybudget fleet show` tells them. */
#ifndef RETRYBUDGET_TOOL_FLEET_HOSTS_H
#define RETRYBUDGET_TOOL_FLEET_HOSTS_H

#include "tool/fleet_ask.h"

/* By name, with the FLEET_HOST_SHOWN numbers that are known of it. */
typedef void fleet_host(void *arg, const char *name, const int64_t *numbers);

/* Calls back for each host that has asked for the label, sorted. False, told on stderr: they
 * cannot be asked for. */
bool fleet_each_host(struct fleet_server *server, const char *prefix, const char *label,
                     fleet_host *found, void *arg);

#endif
