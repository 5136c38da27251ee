/* SPDX-License-Identifier: MIT */
/* The daemon's own HTTP server: metrics and the status page, to this machine alone. */
#ifndef RETRYBUDGET_AGENT_SERVE_H
#define RETRYBUDGET_AGENT_SERVE_H

#include "agent/collect.h"
#include "agent/connections.h"

#include <event2/event.h>

struct fleet;

/* What is served: the sums of the last round. */
struct served {
	struct totals *totals;
	struct round *round;
	const struct fleet *fleet;
	double oldest; /* s that a round may be old; an older one is made anew first */
	struct connections connections;
	size_t unsent; /* bytes of replies that their readers have not taken yet */
};

/* Listens. False, with a message on standard error, if it cannot. Both must outlive the loop. */
bool serve_start(struct event_base *base, const char *address, int port, struct served *served);

/* True for a Host header that names this machine by a loopback address or `localhost`, with or
 * without a port: a page of another origin must not read us through a name that it rebinds. */
bool serve_host_is_local(const char *host);

#endif
