/* SPDX-License-Identifier: MIT */
/*
 * What programs want of a fleet's budget, and what they are lent: over regions of the tests' own,
 * in which tokens are spent between any two looks of the daemon, and that cannot be read, or
 * written, or are gone, as it pleases.
 */
#ifndef TESTS_LENDING_FIXTURE_H
#define TESTS_LENDING_FIXTURE_H

#include "agent/demand_cells.h"
#include "agent/lending.h"
#include "budget_fixture.h"

#define LABEL   "orders-db"
#define REGIONS 3
#define SLOTS   2

extern struct process owners[REGIONS];
extern enum snapshot_state opens[REGIONS];
extern struct region *regions[REGIONS];
extern bool ended[REGIONS];
extern bool by_address; /* no right to open what a process has mapped */
extern bool torn;       /* the next write stops in the middle */
extern int readable;    /* regions, before reading fails */
extern uint64_t dice;
extern int chance; /* of a token to be spent at each step, percent */
extern int64_t spent_in_all, probed_in_all;
extern struct demand demand;
extern int64_t boot; /* ns, CLOCK_BOOTTIME */

/* Everything anew: all regions can be read, nothing was spent. */
void make(void);

/* One of a region grows by a chunk for its second slot. */
struct chunk *chunk_of(int region, int slot);
struct destination *slot_of(int region, int slot);

/* Its process ends. */
void end(int region);

void look(void);
int64_t lend(int64_t tokens, int64_t probes);
void wait_at(int region, int slot);
int64_t left_at(int region, int slot);
int64_t held_in_all(void);

#endif
