/* SPDX-License-Identifier: MIT */
/*
 * When and for what a host asks a ledger: each sync while its programs want tokens, else each
 * thirtieth, at a moment of its own, and at once when it has news for which others wait. An idle
 * host whose ledger has no rule asks ever more seldom, for a fleet that waits for one is no load;
 * one whose ledger learns asks each sync, for time passes there by requests alone (ledger.h, 5).
 * Pure: moments are arguments, ns of CLOCK_BOOTTIME.
 */
#ifndef RETRYBUDGET_TOOL_ASKER_H
#define RETRYBUDGET_TOOL_ASKER_H

#include "tool/holder.h"

#include <stdbool.h>

struct asker {
	struct holder holder;
	int64_t sync;                  /* ns */
	int64_t early;                 /* ns: so much before a whole idle round it is asked */
	int64_t asked_at;              /* the last request */
	int64_t patience;              /* ns until an idle host asks again one that does not lend */
	int64_t now_wanted, now_spent; /* tokens, mt: since then */
	int64_t recent;                /* mt: spent between two requests lately */
	int64_t good, bad;             /* outcomes not yet told */
	int64_t told_good, told_bad;   /* in the request on its way */
	int64_t pending;               /* retries by a lease whose outcome was not seen yet */
	int64_t won, lost;             /* outcomes of such, not yet told */
	int64_t success_at;            /* the last that was seen here; 0: none */
	bool is_active; /* programs here want tokens, or have some, or there is news */
	bool is_news;   /* that success is unknown to others, who wait */
	/* News, as the ledger told them last. */
	int64_t news_at; /* 0: none */
	int64_t failing, waiting;
};

/* What a host's programs did since it looked last. */
struct asker_seen {
	int64_t wanted, waiting; /* tokens; cells that wait */
	int64_t spent, probed;   /* mt, probes */
	int64_t good, bad;
	int64_t won, lost;  /* of them, of retries */
	int64_t success_at; /* the last success; 0: none */
};

/* random: any number, by which hosts are spread over an idle round. */
void asker_begin(struct asker *asker, int64_t life, int64_t sync, uint64_t random);

/* Writes down what was seen. */
void asker_note(struct asker *asker, const struct asker_seen *seen, int64_t now);

/* Whether to ask now. is_good: the ledger answered last as one that lends. lifetime: ns of the
 * leases that it gives, 0: unknown. */
bool asker_is_due(const struct asker *asker, bool is_good, int64_t lifetime, int64_t now);

/* Before the host lends what it holds: what will be void before it looks again is so now. */
void asker_expire(struct asker *asker, int64_t now);

/* Composes a request that is sent at once. */
void asker_ask(struct asker *asker, int64_t waiting, int64_t now, struct ledger_ask *ask);

/* The answer to it. most: ns that a lease may hold here. False: it tells of nothing. */
bool asker_answer(struct asker *asker, const struct ledger_answer *answer, int64_t most,
                  int64_t now);

/* ns until the host looks again: a sync, and half of one while it is active, a tenth more or less.
 */
int64_t asker_pause(int64_t sync, bool is_active, uint64_t *random);

#endif
