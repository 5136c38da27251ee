/* SPDX-License-Identifier: MIT */
/* What `retrybudget fleet` shows, as JSON. */
#ifndef RETRYBUDGET_TOOL_FLEET_JSON_H
#define RETRYBUDGET_TOOL_FLEET_JSON_H

#include "tool/fleet_ask.h"

struct json_t;

/* The one object of a call. NULL: no memory, or it was built without JSON. */
struct json_t *fleet_json_begin(void);

/* A ledger: count and numbers as it shows them, 0: it has no rule, -1: its server cannot be asked.
 * differs: keys with commas between them. Returns the label's object, owned by the one object. */
struct json_t *fleet_json_ledger(struct json_t *all, const char *label,
                                 const struct fleet_server *server, const int64_t *numbers,
                                 int count, const char *differs);

/* Its hosts. False, told on stderr: they cannot be asked for. */
bool fleet_json_hosts(struct json_t *of, struct fleet_server *server, const char *prefix,
                      const char *label, int64_t time);

/* What the daemon of this machine says. */
void fleet_json_local(struct json_t *all, int port);

/* Prints and frees it. False: it cannot be written. */
bool fleet_json_end(struct json_t *all);

#endif
