/* SPDX-License-Identifier: MIT */
/* The ledgers of a fleet, asked by `retrybudget fleet`: one call after the other, waited for. */
#ifndef RETRYBUDGET_TOOL_FLEET_ASK_H
#define RETRYBUDGET_TOOL_FLEET_ASK_H

#include "config/servers.h"
#include "tool/fleet_call.h"

#include <stdbool.h>

/* Numbers that a ledger shows of itself, the rule's seven first, and of a host. */
#define FLEET_SHOWN      20
#define FLEET_HOST_SHOWN 5

/* Of what a ledger shows, behind the rule. */
enum fleet_shown {
	SHOWN_EPOCH = 7,
	SHOWN_TIME,
	SHOWN_LEARNING,
	SHOWN_SUCCESS_AGE,
	SHOWN_GOOD,
	SHOWN_BAD,
	SHOWN_TOKENS_FREE,
	SHOWN_TOKENS_HELD,
	SHOWN_TOKENS_WANTED,
	SHOWN_PROBES_FREE,
	SHOWN_PROBES_HELD,
	SHOWN_PROBES_WANTED,
	SHOWN_EARNED,
};

struct redisContext;

struct fleet_server {
	struct server at;
	char name[160]; /* unix:/path or host:port */
	struct redisContext *context;
	bool is_dead; /* it could not be asked, and is not asked again */
};

/* Connects within two seconds, and says who asks; user and password_file may be empty. False, told
 * on stderr: it cannot. */
bool fleet_ask_open(struct fleet_server *server, const char *user, const char *password_file);
void fleet_ask_close(struct fleet_server *server);

/* Calls a function. Returns how many numbers it answered, or -1, told on stderr. */
int fleet_ask(struct fleet_server *server, const struct wire_call *call, int64_t *numbers,
              int most);

/* After a rule was set or forgotten: waits up to a second for a replica that has it, where there
 * are any. Tells on stderr where none has, for that rule is lost if the server fails. */
void fleet_ask_copied(struct fleet_server *server);

/* Calls back for each host that the server knows, with the name, as far as a million keys go: what
 * is beyond is told on stderr. False, told on stderr: it cannot be asked. */
bool fleet_ask_hosts(struct fleet_server *server, const char *prefix,
                     void (*found)(void *arg, const char *host), void *arg);

#endif
