/* SPDX-License-Identifier: MIT */
/* A ledger of the fleet's budget, for people. */
#ifndef RETRYBUDGET_TOOL_FLEET_PRINT_H
#define RETRYBUDGET_TOOL_FLEET_PRINT_H

#include "tool/fleet_ask.h"

#include <stdio.h>

/* The rule in the words of the file, as `fleet set` takes it. */
void fleet_print_rule(const struct fleet_rule *rule, FILE *out);

/* numbers: FLEET_SHOWN of them, as the ledger shows them; count 0: it has no rule. */
void fleet_print_ledger(const char *label, const struct fleet_server *server,
                        const int64_t *numbers, int count);

/* One row for each host; false, told on stderr: they cannot be asked for. time: of the ledger, ms.
 */
bool fleet_print_hosts(struct fleet_server *server, const char *prefix, const char *label,
                       int64_t time);

#endif
