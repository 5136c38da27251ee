/* SPDX-License-Identifier: MIT */
/*
 * Counters of many processes as one: a counter never falls, though the processes that counted end.
 * Of each region the last values are kept, and what has come since is added to the series of its
 * program, destination and policy. What a process counts after its last look and before its end is
 * lost.
 *
 * Where a round finds all places of series taken, those that have counted nothing for TOTALS_IDLE
 * lose theirs at its end: what counts again is a series that begins anew, as Prometheus expects of
 * one that was gone. So no program that tries all ports once takes them from all later ones.
 */
#ifndef RETRYBUDGET_AGENT_TOTALS_H
#define RETRYBUDGET_AGENT_TOTALS_H

#include "region/region.h"

#include <stddef.h>

/* The counters of one destination, by their place in struct tally. */
#define TOTALS_VALUES      (sizeof(struct tally) / sizeof(cell64))
#define TALLY_PLACE(field) (offsetof(struct tally, field) / sizeof(cell64))

/* Behind those: differences of two, which were counted one after the other. */
enum {
	TOTALS_REFUSED = TOTALS_VALUES, /* told at once */
	TOTALS_WOULD,                   /* went, and would have been refused: observe */
	TOTALS_PLACES,
};

#define TOTALS_IDLE 3600 /* s */

#define TOTALS_RECENT 60
#define TOTALS_POINT  10 /* s that each of them stands for at least */

/* One program at one destination, under one policy. */
struct series {
	char program[REGION_PROGRAM + 1];
	char destination[REGION_NAME + 1];
	char policy[REGION_LABEL + 1];
	int64_t values[TOTALS_PLACES];
	/* As they are now, summed over the processes that were read in the last round. */
	int64_t tokens, capacity;               /* mt */
	double token_seconds, capacity_seconds; /* those over time, by rounds: their averages */
	int64_t breaker_open, breaker_half_open;
	int64_t processes;
	int64_t last_failure;          /* enum failure, of the region that was read last */
	int64_t throttled_before;      /* at the end of the last round */
	int64_t would_before;          /* likewise, of what would have been refused */
	bool observed;                 /* some would have been in the last round */
	bool counts;                   /* it has counted something in this round */
	double counted;                /* s, the end of the last round in which it did */
	int64_t recent[TOTALS_RECENT]; /* throttled in each point of time, the last not over yet */
};

struct totals {
	struct series *series; /* [0] is `other`: all that has no place of its own */
	size_t count, limit;
	uint32_t *places; /* of series, by hash of its names; 0 = free */
	size_t place_room;
	bool is_full, was_full; /* somebody found no place in this round, or in any */
	struct last *last;
	size_t last_count, last_room;
	uint64_t round;
	double finished;    /* s, the last round */
	double point_began; /* s */
	double point;       /* s: no shorter than the time between rounds, or some would be empty */
};

/* most: series kept, >= 1. False: no memory. */
bool totals_start(struct totals *totals, size_t most);
void totals_end(struct totals *totals);

/* A round over all regions begins; at its end those are forgotten that came in none of the last
 * ten, for one may not be readable for a while. Rounds come when they are asked for as well: now,
 * in s, tells how much time each stands for. */
void totals_begin(struct totals *totals);
void totals_finish(struct totals *totals, double now);

/* What was read of one destination, once in a round or more. region: tells this region from all
 * others, for as long as it exists; slot: of the destination. Numbers below 0 count as 0. */
void totals_add(struct totals *totals, uint64_t region, unsigned int slot, const char *program,
                const struct destination *destination);

/* What of a series was throttled: refused, parked and held; nothing that went at once. */
int64_t totals_throttled(const struct series *series);

#endif
