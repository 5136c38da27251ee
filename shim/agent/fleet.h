/* SPDX-License-Identifier: MIT */
/*
 * This host's part of a fleet's budget: what its programs want is asked of the ledgers in Redis,
 * and what those lend goes into the programs' regions (host_demand.h). Whatever fails here, the
 * programs see no more than a lease that runs out.
 */
#ifndef RETRYBUDGET_AGENT_FLEET_H
#define RETRYBUDGET_AGENT_FLEET_H

#include "agent/fleet_link.h"
#include "agent/fleet_rules.h"
#include "agent/fleet_wire.h"
#include "agent/host_demand.h"
#include "tool/asker.h"
#include "tool/fleet_differs.h"

#define FLEET_HOST 64

/* What a label is up to, beside its server's state. */
enum fleet_word {
	FLEET_UNKNOWN, /* not asked yet, or not answered */
	FLEET_GOOD,
	FLEET_LEARNING, /* the ledger was lost, or is new */
	FLEET_NO_RULE,  /* `retrybudget fleet set` was never said, or its rule was lost */
	FLEET_FORGOTTEN,
	FLEET_SELF, /* the destination is the server that keeps the ledger: none is asked */
	FLEET_WORDS,
};

struct fleet;
struct fleet_batch;

struct fleet_label {
	struct fleet *fleet;
	struct fleet_link *link;
	char label[CONFIG_LABEL];
	struct asker asker;
	struct fleet_rules rules;
	char differs[FLEET_DIFFERS]; /* keys of the file that the rule has another value of */
	enum fleet_word word;
	int64_t answered_at;                /* ns, of the last */
	int64_t restore_at, restore_streak; /* ns: no restore before, for so many in a row failed */
	/* Sums. */
	int64_t requests, lost, granted, spent, probed;
};

struct fleet {
	struct config config;
	char host[FLEET_HOST];
	struct event_base *base;
	struct event *timer;
	struct demand demand;
	struct fleet_link links[SERVERS_MOST];
	size_t link_count;
	struct fleet_batch *batches[SERVERS_MOST]; /* fleet_sync.c: what a round will ask of each */
	struct fleet_label *labels;
	size_t label_count;
	uint64_t random;
	int64_t rounds;
};

/* What the fleet's timer does, with the fleet as its argument: one round. */
void fleet_tick(evutil_socket_t fd, short what, void *fleet);

#endif
