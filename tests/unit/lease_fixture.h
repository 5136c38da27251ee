/* SPDX-License-Identifier: MIT */
/* A ledger and hosts around it, on a clock of their own. */
#ifndef RETRYBUDGET_TESTS_LEASE_FIXTURE_H
#define RETRYBUDGET_TESTS_LEASE_FIXTURE_H

#include "tool/holder.h"

#include <string.h>

#define FLEET_MOST 64
#define BOOT       (1000 * NS_PER_S)   /* the hosts' clock at the beginning */
#define EPOCH_S    INT64_C(1800000000) /* the server's */

struct fleet {
	struct ledger ledger;
	struct ledger_host known[FLEET_MOST];
	struct holder hosts[FLEET_MOST];
	struct ledger_answer last; /* told to anybody */
	bool forgets;              /* the server is another than the one that wrote the ledger */
	int64_t ms;                /* since the beginning */
	int64_t step;              /* ms by which the server's clock is wrong */
};

static const struct fleet_rule fleet_rule = { .generation = 1,
	                                      .capacity = 100000,
	                                      .floor = 20000,
	                                      .probe = 10000,
	                                      .hosts = 100,
	                                      .leased = 1000000,
	                                      .lifetime = 20000 };

static inline int64_t boot_of(const struct fleet *fleet)
{
	return BOOT + fleet->ms * NS_PER_MS;
}

static inline int64_t clock_of(const struct fleet *fleet)
{
	return (EPOCH_S * 1000 + fleet->ms + fleet->step) * 1000;
}

/* What the server does with a request. */
static inline struct ledger_answer at_server(struct fleet *fleet, int host,
                                             const struct ledger_ask *ask)
{
	ledger_sync(&fleet->ledger, &fleet->known[host], ask, clock_of(fleet), !fleet->forgets,
	            &fleet->last);
	fleet->forgets = false;
	return fleet->last;
}

/* A request and its answer. Returns tokens granted, mt. */
static inline int64_t sync_host(struct fleet *fleet, int host, int64_t tokens, int64_t probes)
{
	const int64_t wants[PURSES] = { tokens, probes };
	struct ledger_ask ask;
	struct ledger_answer answer;

	holder_ask(&fleet->hosts[host], wants, boot_of(fleet), &ask);
	answer = at_server(fleet, host, &ask);
	holder_answer(&fleet->hosts[host], &answer, boot_of(fleet));
	return answer.grant[PURSE_TOKENS];
}

/* Past the learning of a new ledger, with what time may have saved up since. */
static inline void fleet_start(struct fleet *fleet, const struct fleet_rule *rule, int64_t saved)
{
	memset(fleet, 0, sizeof(*fleet));
	ledger_set(&fleet->ledger, rule);
	for (int i = 0; i < FLEET_MOST; i++)
		fleet->hosts[i].life = i + 1;
	for (int64_t until = rule->lifetime / 4 * 5 + saved; fleet->ms <= until; fleet->ms += 1000)
		sync_host(fleet, FLEET_MOST - 1, 0, 0);
}

#endif
