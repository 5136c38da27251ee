/* SPDX-License-Identifier: MIT */
/*
 * The ledger of one policy label: what of the fleet's leased share is free, and what its hosts may
 * still hold. In service it lives in Redis, where conf/fleet/retrybudget.lua keeps it by the same
 * rules; this is their model in C, for the tests, the simulation and whoever wants to read them. A
 * test plays the same traces through both.
 *
 * The rules, of which the bound follows that no window of w seconds sees more than capacity +
 * floor * w of the leased share:
 *
 *   1. Free and held together never exceed the capacity. What is held is counted as the most that a
 *      host may still spend: what it said it held, and all that it was granted since.
 *   2. Time adds what the floor says to what is free, and only up to that, with what was held all
 *      that time still counted as held. Spending is seen when it is told.
 *   3. A host gives back before it says so; what it says counts once, by its number.
 *   4. A lease that has run out falls out of what is held a quarter of a lifetime later than at its
 *      host, which counts from the moment it asked. It is not put back: it may have been spent, and
 *      time fills its place.
 *   5. Time stands still while nobody asks, and no step of the clock counts for more than an eighth
 *      of a lifetime: a false clock makes nothing run out that still runs.
 *   6. Who has no memory of this ledger, or meets a host that remembers more, learns: for the
 *      longest time that a lease may still run hosts keep what they hold, nobody gets more, and
 *      time adds nothing.
 *   7. Answers earn. For four retries by a lease that were answered five more may go, and each
 *      that failed takes three quarters of one away, so that their number grows: after an outage a
 *      fleet comes back as fast as the destination answers it, and not as fast as the floor lends.
 *      Where more than an eighth of those failed that were told of lately (in one eighth of a
 *      lifetime, or two), the destination takes no more: for ten that were answered nine may go,
 *      and each that failed takes a quarter of one away, so that together with what the floor
 *      lends about as many come as it answers. They lie beside what is free, one for each host that
 * wants some or a capacity of them at most, for two eighths of a lifetime at most, and then they
 * are gone. An outcome is told once or, where the message is lost, never; whom the ledger does not
 * know, or while it learns, earns nothing. So what goes beyond capacity + floor * w is at most five
 * quarters of what was answered in the window and in a lifetime and a half before it, and of a
 * destination that answers nothing it is nothing.
 *
 * And the shares: a host gets the lesser of what it wants and its part of what is free by the time
 * that has passed since it got something last; what others do not want raises what is free, and so
 * each one's part (max-min fair). Whole tokens only: where the parts are less, a token goes to who
 * has waited a whole turn of all; the longer it lies there, the less one must have waited for it.
 */
#ifndef RETRYBUDGET_TOOL_LEDGER_H
#define RETRYBUDGET_TOOL_LEDGER_H

#include "tool/fleet_rule.h"

#define LEDGER_WINDOWS 6 /* quarters of a lifetime after which a lease has run out */

enum ledger_purse {
	PURSE_TOKENS, /* counted in mt, granted in whole tokens */
	PURSE_PROBES, /* one at a time, one each `probe` */
	PURSES,
};

enum ledger_status {
	LEDGER_GOOD,
	LEDGER_STALE,     /* a request that came later than a younger one: nothing was done */
	LEDGER_NO_RULE,   /* nobody has set one, or it was lost */
	LEDGER_FORGOTTEN, /* somebody has asked to forget it (in Redis only) */
};

struct purse {
	int64_t free;                /* in parts: 1000 of a mt, `probe` of a probe */
	int64_t out[LEDGER_WINDOWS]; /* mt, or probes, that hosts may hold, by when they said so */
	int64_t ready;               /* time since when a whole one is free, or the last went */
	int64_t now_want, wanted;    /* hosts that want some, in this eighth and in the last */
};

struct ledger {
	struct fleet_rule rule;
	int64_t epoch;     /* of this memory; 0: none */
	int64_t born;      /* the first of its epochs: tells it from a ledger that was lost */
	int64_t clock;     /* ms: as it was read last */
	int64_t time;      /* ms that have passed, by rule 5 */
	int64_t learning;  /* until that time */
	int64_t success;   /* time of the last that was told of; -1: none */
	int64_t good, bad; /* outcomes lately, halved from time to time */
	/* mt that answers earned in this eighth, and what is left of the last one's. Below 0:
	 * failures that answers have to make good first. */
	int64_t earned, earned_before;
	/* Retries by a lease that were told of in this eighth, and in the last one. */
	int64_t won, lost, won_before, lost_before;
	struct purse purse[PURSES];
};

/* What is known of one host. Zeroes: nothing. */
struct ledger_host {
	int64_t life;   /* which run of its agent; 0: unknown */
	int64_t number; /* of its last request */
	int64_t time;   /* when that came */
	int64_t born;   /* of the ledger that wrote this: another one's is not believed */
	struct {
		int64_t out;    /* it may hold */
		int64_t served; /* time when it got something last */
		int64_t wanted; /* time when it last wanted some */
	} purse[PURSES];
};

/* What a host says. Counts from 0 on. */
struct ledger_ask {
	int64_t life, number; /* from 1 on, both */
	int64_t heard;        /* the last number of this life that was answered to it; 0: none */
	int64_t epoch;        /* that it has heard of; 0: none */
	int64_t held[PURSES]; /* it has, at most */
	int64_t back[PURSES]; /* it had, and gives back: it has no more of it */
	int64_t wants[PURSES];
	int64_t good, bad;   /* outcomes since its last request */
	int64_t won, lost;   /* of them, retries by a lease; told once */
	int64_t success_age; /* ms since the last success that it saw; -1: none */
};

struct ledger_answer {
	int64_t status; /* enum ledger_status; only of a good one the rest counts */
	int64_t epoch, generation;
	int64_t lifetime; /* ms, from the moment that the host asked, of all that it holds */
	int64_t learning; /* 1: nobody gets anything now */
	int64_t grant[PURSES];
	int64_t keep;        /* mt: more than that is wanted elsewhere */
	int64_t waiting;     /* hosts that want tokens, or a probe */
	int64_t success_age; /* ms; -1: none known */
	int64_t failing;     /* ppm of the outcomes lately; -1: there are none */
	int64_t earned;      /* mt of the grant: no later request makes them last longer */
};

/* One request, at a clock in ms and us that may step. remembers: this server has written the
 * ledger's epoch itself, and has not been started since. */
void ledger_sync(struct ledger *ledger, struct ledger_host *host, const struct ledger_ask *ask,
                 int64_t clock_us, bool remembers, struct ledger_answer *answer);

/* Another rule; false if it is invalid, or no younger than the one that holds. What is held stays
 * counted; another lifetime is learnt, for leases of the old one still run. */
bool ledger_set(struct ledger *ledger, const struct fleet_rule *rule);

#define LEDGER_AHEAD INT64_C(86400000) /* ms by which the clock of who set a rule may be ahead */

/* A rule that a host remembers: where the ledger has an older one it gets what both let go, and so
 * a host can make it stricter, never looser. That has the rule's own generation, if it is the rule
 * and the clock (us) not more than LEDGER_AHEAD behind it, and else the next after the ledger's, so
 * that none of a host's making is in the way of one that is set. False: nothing is changed. */
bool ledger_restore(struct ledger *ledger, const struct fleet_rule *rule, int64_t clock_us);

#endif
