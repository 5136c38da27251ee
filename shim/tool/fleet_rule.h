/* SPDX-License-Identifier: MIT */
/*
 * The rule of a fleet's budget at one policy label, and the most that all hosts together may send
 * under it. It is split beforehand: a share that is leased from one ledger (tool/ledger.h), and a
 * reserve of which each host may use its part without a lease, whatever has become of the ledger.
 * Pure.
 */
#ifndef RETRYBUDGET_TOOL_FLEET_RULE_H
#define RETRYBUDGET_TOOL_FLEET_RULE_H

#include "sys/arithmetic.h"

#include <stdbool.h>

#define FLEET_TOKEN INT64_C(1000) /* mt */

/* Bounds that keep every product of the ledger exact in a double, as Lua counts. */
#define FLEET_CAPACITY_MOST INT64_C(100000000) /* mt */
#define FLEET_FLOOR_MOST    INT64_C(10000000)  /* mt/s */
#define FLEET_PROBE_MOST    INT64_C(3600000)   /* ms */
#define FLEET_HOSTS_MOST    INT64_C(1000000)
#define FLEET_LIFE_LEAST    INT64_C(4000)   /* ms */
#define FLEET_LIFE_MOST     INT64_C(120000) /* ms */

#define FLEET_DEBT INT64_C(4000) /* mt: answers that follow an outage earn nothing up to that */

struct fleet_rule {
	int64_t generation; /* from 1 on; one that is set later has a higher one. 0: no rule */
	int64_t capacity;   /* mt: what the fleet may save up */
	int64_t floor;      /* mt/s */
	int64_t probe;    /* ms between two probes of the whole fleet, where there are no tokens */
	int64_t hosts;    /* there are no more hosts than that */
	int64_t leased;   /* ppm of capacity and floor that are leased; the rest is the reserve */
	int64_t lifetime; /* ms of a lease */
};

bool fleet_rule_is_valid(const struct fleet_rule *rule);

/* ppm of a floor (mt/s, > 0) that are leased where so much of it (mt/s, <= floor) is kept back. */
int64_t fleet_leased_part(int64_t floor, int64_t reserve);

/* The leased part: mt, and mt/s (at least 1). */
int64_t fleet_leased_capacity(const struct fleet_rule *rule);
int64_t fleet_leased_floor(const struct fleet_rule *rule);

/* The rest, mt/s of all hosts together: one may use a token in hosts / reserve seconds without a
 * lease, and saves none up; and a probe in hosts * probe. */
int64_t fleet_reserve(const struct fleet_rule *rule);

/* mt of attempts that go in any window of so many ms (>= 0), leased share, reserve and probes
 * together. What goes without a lease is counted as spread evenly: each host begins at a random
 * moment. */
int64_t fleet_bound(const struct fleet_rule *rule, int64_t window);

/* mt that may go beyond all that, of so many mt of leased retries that were answered: rule 7 of
 * tool/ledger.h. */
int64_t fleet_earned(int64_t answered);

/* The rule that lets go what both do, of no generation. Of hosts and lifetime, by which none lets
 * more go, it has the greater: what was lent by either has run out by then. */
struct fleet_rule fleet_rule_merged(const struct fleet_rule *one, const struct fleet_rule *other);

/* All but their generations. */
bool fleet_rule_is_same(const struct fleet_rule *one, const struct fleet_rule *other);

/* Of mt that were lent by one rule those that another lets go as well. */
int64_t fleet_stricter(int64_t mt, const struct fleet_rule *told, const struct fleet_rule *other);

/* ms from a recovery until about each of the rule's hosts, if all of them wait for one retry, has
 * been lent it: the leased floor, and what answers earn by it. sync: ms, at which hosts ask. */
int64_t fleet_return(const struct fleet_rule *rule, int64_t sync);

#endif
