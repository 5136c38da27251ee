/* SPDX-License-Identifier: MIT */
/* The address of a server by its name, asked for on the daemon's loop: getaddrinfo(3), which
 * hiredis calls, would stand still for as long as a resolver does not answer, and with it metrics
 * and watchdog. */
#ifndef RETRYBUDGET_AGENT_FLEET_NAME_H
#define RETRYBUDGET_AGENT_FLEET_NAME_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>

struct evdns_base;
struct evdns_getaddrinfo_request;

/* address: text; NULL: there is none, and why. */
typedef void name_told(void *arg, const char *address, const char *why);

/* Zeroes: nothing was asked yet. */
struct fleet_name {
	struct evdns_base *resolver;
	struct evdns_getaddrinfo_request *request; /* on its way */
	size_t turn; /* of several addresses each is tried in its turn */
	name_told *told;
	void *arg;
};

/* True if it is one already, which needs no asking. */
bool name_is_address(const char *host);

/* Asks, by resolv.conf(5) and hosts(5) as they are now; told may be called before this returns.
 * False: it cannot be asked. */
bool name_ask(struct fleet_name *name, struct event_base *base, const char *host, name_told *told,
              void *arg);

/* What was asked is not wanted any more: nobody is told. */
void name_cancel(struct fleet_name *name);

void name_end(struct fleet_name *name);

#endif
