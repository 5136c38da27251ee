/* SPDX-License-Identifier: MIT */
/*
 * No more connections to the daemon's server than it can spare descriptors for: those that it reads
 * programs with, and lends by, are of the same limit. Who is one too many costs the one that has
 * been silent longest its connection, so that idle ones, however many, keep nobody out.
 */
#ifndef RETRYBUDGET_AGENT_CONNECTIONS_H
#define RETRYBUDGET_AGENT_CONNECTIONS_H

#include <event2/http.h>
#include <stdbool.h>
#include <stddef.h>

#define CONNECTIONS_MOST 32

struct evconnlistener;

struct connections {
	struct event_base *base;
	struct evconnlistener *listener;
	struct event *again; /* when it takes connections again */
	size_t most;         /* there are no more than that */
};

/* Bounds those that come by this socket from now on. False: no memory. Must outlive the loop. */
bool connections_bound(struct connections *connections, struct event_base *base,
                       struct evhttp *http, struct evhttp_bound_socket *bound);

/* Ends the one whose last byte was read longest ago, if there is any. */
void connections_end_quietest(struct connections *connections);

#endif
