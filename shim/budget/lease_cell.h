/* SPDX-License-Identifier: MIT */
/*
 * What one destination may spend of the budget of a whole fleet: a cell that the daemon of this
 * host writes and the library spends, by the clock alone. A daemon that has died, hangs, or lost
 * its server is a lease that runs out, and nothing else.
 *
 * Two writers, and no word that both write. The daemon writes its words all at once, in whatever
 * pieces and order the kernel copies them; `check` covers them all, so that a reader believes them
 * only if all are of one writing: a cell that is half written, or whose writer died in between, is
 * no lease, until the next comes. What is spent the library counts in words of its own, which only
 * grow: a lease says how far they may grow (`tokens`, `probes`), reckoned from where the daemon
 * has seen them, so that what is spent while it writes is never granted twice; and no lease is
 * worth more than its own `amount`, whatever the other words say. One compare-and-swap spends;
 * a death at any instruction leaves a valid cell, and loses one token at most.
 *
 * A thread that is stopped between its look at a lease and its compare-and-swap may still spend
 * what has been taken back, or run out, in between: as one that is stopped between a verdict and
 * its call.
 *
 * All-zero is a valid cell: there never was a lease. So is any bit pattern: every value is clamped
 * when it is read, and what another process writes over it costs no more than one amount. All
 * functions: pure, thread-safe, async-signal-safe. Tokens in mt. Moments are ns of CLOCK_BOOTTIME
 * here, which goes on while the machine sleeps: a lease must not outlive a suspend.
 */
#ifndef RETRYBUDGET_BUDGET_LEASE_CELL_H
#define RETRYBUDGET_BUDGET_LEASE_CELL_H

#include "sys/arithmetic.h"
#include "sys/cell.h"

#define LEASE_TOKENS_MOST  INT64_C(1000000000) /* mt in one cell: a million tokens */
#define LEASE_PROBES_MOST  INT64_C(1000)
#define LEASE_LONGEST      (600 * NS_PER_S) /* what ends later is another clock's, or garbage */
#define LEASE_MEMBERS_MOST INT64_C(100000)

struct lease {
	/* The daemon's: region/lease.h composes them. */
	cell64 check;      /* of all words below up to `news`; 0: there never was a lease */
	cell64 label;      /* lease_label() of the policy that it is for */
	cell64 generation; /* of the fleet's rule, for people */
	cell64 until;      /* it lives before this moment */
	cell64 tokens;     /* mt: `spent` may grow up to here */
	cell64 amount;     /* mt: what of them was left when it was written */
	cell64 probes;     /* `probed` may grow up to here */
	cell64 probe_left; /* likewise */
	cell64 members;    /* cells of this host and label, which share its reserve; 0 = this one */
	cell64 news_at; /* the last success of the fleet that the daemon has heard of; 0 = none */
	cell64 news;    /* share of failures in the fleet, ppm << 32 | hosts that wait */
	/* The library's. */
	cell64 spent;   /* mt of all leases so far */
	cell64 probed;  /* probes of all leases so far */
	cell64 reserve; /* which token of the reserve went last (leased.c) */
	cell64 alone;   /* which probe without a lease, likewise */
};

/* A cell as it may be believed. */
struct lease_view {
	bool is_whole; /* the daemon's words are of one writing, and for this label */
	bool lives;    /* and it has not run out: else all below but members is 0 */
	int64_t generation;
	int64_t until;
	int64_t left, amount; /* mt, 0 <= left <= amount */
	int64_t probes;       /* that are left */
	int64_t members;      /* >= 1; also of a lease that has run out */
	int64_t news_at;      /* ns, not after boot; 0 = none */
	int64_t failing;      /* ppm */
	int64_t waiting;      /* hosts */
};

/* What tells the leases of one policy from those of others: a hash of its label, never 0. */
int64_t lease_label(const char *label);

/* The check of a cell's words as they stand. */
int64_t lease_check(const struct lease *lease);

/* Reads a cell. boot: the moment now. */
void lease_read(const struct lease *lease, int64_t label, int64_t boot, struct lease_view *view);

/* Takes cost mt (> 0) of a lease that lives, all-or-nothing. Returns cost, or -1. */
int64_t lease_spend(struct lease *lease, int64_t label, int64_t cost, int64_t boot);

/* Gives back what was taken, to the lease that stands, if one does: never more than its amount is
 * left. */
void lease_return(struct lease *lease, int64_t label, int64_t mt);

/* Takes one probe of a lease that lives. */
bool lease_probe(struct lease *lease, int64_t label, int64_t boot);

#endif
