/* SPDX-License-Identifier: MIT */
/*
 * What the programs of this host want of the fleet's budget, by label, and what each of them is
 * lent. All of it is read from regions that their users can write: so what one cell and one user
 * may claim is capped, and one who claims more than another gets no more for it than max-min
 * fairness gives. Nothing is ever mapped.
 *
 * A program may end between two rounds. What it did until then is read from what it leaves behind
 * (agent/last_look.h), and where that cannot be read all that it had been lent counts as spent: it
 * must not be lent again.
 */
#ifndef RETRYBUDGET_AGENT_HOST_DEMAND_H
#define RETRYBUDGET_AGENT_HOST_DEMAND_H

#include "agent/last_look.h"
#include "agent/sightings.h"
#include "config/config.h"
#include "region/lease.h"
#include "tool/chunk_file.h"
#include "tool/fair.h"
#include "tool/processes.h"

/* One label, in this host. */
struct demand_label {
	char label[CONFIG_LABEL];
	/* Since the round before; of a cell that is seen for the first time its answers alone. */
	int64_t wanted;    /* tokens, capped; at least one for each cell that waits */
	int64_t throttled; /* attempts */
	int64_t successes, failures;
	int64_t won, lost; /* of them, of retries */
	int64_t spent;     /* mt of leases */
	int64_t probed;    /* probes of leases */
	int64_t members;   /* cells that are in use */
	int64_t waiting;   /* of them: their last attempts failed, and somebody wants to retry */
	int64_t held, held_probes; /* by cells now, also by those of an agent before this one */
	int64_t success_at; /* ns, CLOCK_BOOTTIME: the last success that was seen, 0 = none */
};

/* One destination of one region. */
struct demand_cell {
	uint64_t region; /* tells it from all others, for as long as it exists */
	uint32_t slot;
	uint32_t label; /* which of the labels */
	int64_t key;    /* of the destination: another one is another cell */
	uid_t user;
	struct process member; /* one of those who share it */
	struct mapping mapping;
	struct chunk_name chunk; /* that the slot is in */
	bool is_waiting, in_use;
	bool is_found;   /* of a cell of the round before: this one has met it */
	int64_t seen_at; /* ns, CLOCK_BOOTTIME */
	int64_t wants;   /* tokens of this round, capped */
	/* Sums, as the round read them. */
	int64_t retries, throttled, successes, failures, won, lost, spent, probed;
	/* What can have been spent since: mt and probes that were left then, or were lent since. */
	int64_t held, held_probes;
};

struct demand {
	struct demand_label *labels, *labels_before;
	size_t label_count;
	struct demand_cell *cells;
	size_t cell_count, cell_room;
	struct demand_cell *before; /* those of the last round, by place */
	size_t before_count, before_room;
	uint32_t *places; /* of before[], by hash; 0 = free, else 1 + index */
	size_t place_room;
	struct sightings sightings; /* regions, and slots that no label has */
	struct last_look last_look;
	uint64_t turn;
	int64_t looked_at; /* ns, CLOCK_BOOTTIME: the last round; 0 = none yet */
	size_t unreadable; /* processes that could not be looked into */
};

/* Which labels: those of the policies that draw on the fleet. False: no memory. */
bool demand_start(struct demand *demand, const struct config *config);
void demand_end(struct demand *demand);

/* One round over all regions; then labels[] says what they want. now: ns, CLOCK_BOOTTIME. False
 * with errno: /proc cannot be read, or there is no memory; all is then as the last round left it
 * that did not fail. */
bool demand_round(struct demand *demand, int64_t now);

/* What a label wants; NULL: none of that name draws on the fleet. */
struct demand_label *demand_of(struct demand *demand, const char *label);

#endif
