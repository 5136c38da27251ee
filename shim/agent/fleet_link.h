/* SPDX-License-Identifier: MIT */
/*
 * The connection to one Redis that keeps ledgers, on the daemon's loop. What it cannot have it asks
 * for again by our own backoff: the agents of a fleet must be no storm on the server that bounds
 * storms. Its state has a word, which stands in the log, the metrics and `retrybudget fleet`.
 */
#ifndef RETRYBUDGET_AGENT_FLEET_LINK_H
#define RETRYBUDGET_AGENT_FLEET_LINK_H

#include "agent/fleet_name.h"
#include "config/fleet_settings.h"
#include "config/servers.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

struct redisAsyncContext;
struct redisReply;

enum link_state {
	LINK_CONNECTING, /* for the first time */
	LINK_UP,
	LINK_DOWN,     /* no connection, or it was lost */
	LINK_SLOW,     /* answers, if at all, after longer than a sync */
	LINK_LOADING,  /* it starts, or fails over */
	LINK_READONLY, /* a replica */
	LINK_MEMORY,   /* out of memory */
	LINK_DISK,     /* cannot write, and so takes no writes */
	LINK_PASSWORD, /* user, password or rights are wrong, or the file cannot be used */
	LINK_VERSION,  /* without the library, or with another version of it */
	LINK_STRANGE,  /* answers what is no answer */
	LINK_STATES,
};

struct fleet_link {
	struct server server;
	const struct fleet_settings *settings;
	struct event_base *base;
	struct event *timer;    /* until it is tried again, or given up */
	struct fleet_name name; /* its address, while that is asked for */
	struct redisAsyncContext *context;
	bool is_connected, is_ready; /* by TCP; by AUTH */
	enum link_state state;
	char reason[128];
	int64_t streak; /* connections that failed in a row */
	int64_t connects, failures;
	uint64_t random;
	const char *gives_up; /* why the connection that is being made will not do */
	bool is_strange;      /* the connection ends by a reply that nobody asked for */
};

/* The caller of a reply that has to come; NULL: none will. */
typedef void link_reply(void *arg, const struct redisReply *reply);

/* Connects. All that is set in *link but its working state must outlive the loop. */
bool link_start(struct fleet_link *link);
void link_end(struct fleet_link *link);

/* Sends a command whose words are argv. False: it could not; the reply will not be told of. */
bool link_call(struct fleet_link *link, link_reply *told, void *arg, int argc, const char **argv,
               const size_t *lengths);

/* The state that is known now; a change is recorded. */
void link_note(struct fleet_link *link, enum link_state state, const char *reason);

/* The same, and the connection is given up, to be made again later. */
void link_fail(struct fleet_link *link, enum link_state state, const char *reason);

/* ns until it is called again, after so many calls in a row that failed. */
int64_t link_backoff(struct fleet_link *link, int64_t streak);

/* By the first word of an error that Redis told. */
enum link_state link_state_of(const char *error);

const char *link_word(enum link_state state);

/* unix:/path or host:port. */
void link_name(const struct fleet_link *link, char *name, size_t size);

#endif
