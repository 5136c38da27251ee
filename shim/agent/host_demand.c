/* SPDX-License-Identifier: MIT */
/* Reading: from regions to what each label wants. */
#include "agent/host_demand.h"

#include "agent/demand_cells.h"
#include "agent/demand_wants.h"
#include "sys/real.h"
#include "tool/family.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT_MOST 65536 /* cells: with so many none is remembered that is away */

bool demand_start(struct demand *demand, const struct config *config)
{
	*demand = (struct demand) { 0 };
	demand->labels = calloc((size_t)config->policy_count, sizeof(*demand->labels));
	demand->labels_before = calloc((size_t)config->policy_count, sizeof(*demand->labels));
	if (!demand->labels || !demand->labels_before || !demand_cells_start(demand)) {
		demand_end(demand);
		return false;
	}
	for (int i = 0; i < config->policy_count; i++)
		if (config->policies[i].leased)
			memcpy(demand->labels[demand->label_count++].label, config->labels[i],
			       CONFIG_LABEL);
	return true;
}

void demand_end(struct demand *demand)
{
	free(demand->labels);
	free(demand->labels_before);
	demand_cells_end(demand);
	sightings_end(&demand->sightings);
	last_look_end(&demand->last_look);
	*demand = (struct demand) { 0 };
}

struct demand_label *demand_of(struct demand *demand, const char *label)
{
	for (size_t i = 0; i < demand->label_count; i++)
		if (strcmp(demand->labels[i].label, label) == 0)
			return &demand->labels[i];
	return NULL;
}

struct visit {
	struct demand *demand;
	int64_t boot, mono; /* ns, now */
	int64_t time;       /* ns since the round before, a second at least */
	bool failed;
};

static struct demand_cell *add_new(struct visit *visit)
{
	struct demand_cell *cell = demand_cell_add(visit->demand);

	visit->failed |= !cell;
	return cell;
}

/* Counters only grow; one that went back began anew. */
static int64_t grown(int64_t now, int64_t before)
{
	return before >= 0 && now >= before ? now - before : greater(now, 0);
}

static bool is_recent(int64_t at, int64_t within, int64_t mono)
{
	return at > 0 && mono - at < within;
}

/* When the last success was, of those that were counted since a moment. */
static int64_t success_at(const struct visit *visit, const struct destination *of, int64_t since)
{
	int64_t at = LOAD(of->budget.allowance.answered_at);

	if (at <= 0 || at > visit->mono)
		return since;
	return greater(at + (visit->boot - visit->mono), since);
}

/* All that is counted there came since the round before. Of a share that nobody had mapped then
 * that is not known, nor of a destination whose label is another since its program read a file
 * anew: who took old answers for news would send a fleet to a destination that is dead. */
static bool is_new(const struct visit *visit, const struct demand_cell *cell)
{
	const struct sightings *seen = &visit->demand->sightings;

	if (visit->demand->looked_at <= 0)
		return false;
	return sightings_had(seen, cell->region) ? !sightings_had(seen, demand_cell_hash(cell))
	                                         : cell->mapping.kind == MAPPING_OWN;
}

/* It was not there at the round before: its answers are those of new work, which is not held, and
 * often the first to find that the destination is back. */
static void note_first(const struct visit *visit, const struct demand_cell *cell,
                       const struct destination *of)
{
	struct demand_label *label = &visit->demand->labels[cell->label];

	if (cell->successes <= 0 || LOAD(of->budget.streak) > 0 || !is_new(visit, cell))
		return;
	label->successes = later(label->successes, cell->successes);
	label->success_at = greater(label->success_at, visit->demand->looked_at);
}

/* Each is a claim, and may be any number; but no more than had been lent is spent. */
static void note_growth(struct visit *visit, const struct demand_cell *cell,
                        const struct demand_cell *before, const struct destination *of)
{
	struct demand_label *label = &visit->demand->labels[cell->label];
	int64_t successes = grown(cell->successes, before->successes);

	label->throttled = later(label->throttled, grown(cell->throttled, before->throttled));
	label->failures = later(label->failures, grown(cell->failures, before->failures));
	label->won = later(label->won, grown(cell->won, before->won));
	label->lost = later(label->lost, grown(cell->lost, before->lost));
	label->successes = later(label->successes, successes);
	if (successes > 0)
		label->success_at =
		    greater(label->success_at, success_at(visit, of, before->seen_at));
	label->spent += lesser(grown(cell->spent, before->spent), before->held);
	label->probed += lesser(grown(cell->probed, before->probed), before->held_probes);
}

static void note_lease(struct visit *visit, struct demand_cell *cell, const struct lease *lease)
{
	struct lease_view view;

	lease_read(lease, lease_label(visit->demand->labels[cell->label].label), visit->boot,
	           &view);
	cell->spent = LOAD(lease->spent);
	cell->probed = LOAD(lease->probed);
	cell->held = view.left;
	cell->held_probes = view.probes;
}

/* Of first tries and of retries. */
static int64_t sum(const cell64 counts[2])
{
	return later(greater(LOAD(counts[0]), 0), greater(LOAD(counts[1]), 0));
}

static void read_sums(struct visit *visit, struct demand_cell *cell, const struct destination *of)
{
	note_lease(visit, cell, &of->budget.lease);
	cell->retries = LOAD(of->tally.retries);
	cell->throttled = LOAD(of->tally.avoided);
	cell->successes = sum(of->tally.answered);
	cell->failures = sum(of->tally.failed);
	cell->won = LOAD(of->tally.answered[1]);
	cell->lost = LOAD(of->tally.failed[1]);
	cell->seen_at = visit->boot;
}

/* at: which of the slots that were read. */
static void add_cell(struct visit *visit, const struct family *family, int at, uint32_t label)
{
	const struct destination *of = &family->snapshot->destinations[at];
	uint32_t slot = family->snapshot->slots[at];
	struct demand_label *sums = &visit->demand->labels[label];
	struct demand_cell *cell = add_new(visit), *before;
	int64_t streak = LOAD(of->budget.streak), wanted_at = LOAD(of->budget.wanted_at);

	if (!cell)
		return;
	cell->region = family_key(family);
	cell->slot = slot;
	cell->label = label;
	cell->key = LOAD(of->named);
	cell->member = family->members[0];
	cell->mapping = *family_mapping(family);
	cell->chunk = snapshot_chunk(family->snapshot, slot / REGION_CHUNK);
	cell->user = family->members[0].user;
	read_sums(visit, cell, of);
	cell->is_waiting = streak > 0 && is_recent(wanted_at, DEMAND_WAITING, visit->mono);
	cell->in_use = cell->is_waiting || is_recent(LOAD(of->used_at), DEMAND_IN_USE, visit->mono);
	before = demand_cell_before(visit->demand, cell);
	if (before) {
		before->is_found = true;
		note_growth(visit, cell, before, of);
		cell->wants = lesser(grown(cell->retries, before->retries),
		                     demand_most(DEMAND_CELL_MOST, visit->time));
	} else {
		note_first(visit, cell, of);
	}
	if (cell->is_waiting)
		cell->wants = greater(cell->wants, 1);
	if (cell->in_use || cell->held > 0 || cell->held_probes > 0)
		last_look_keep(&visit->demand->last_look, cell->region, &cell->member,
		               &cell->mapping);
	sums->members += cell->in_use;
	sums->waiting += cell->is_waiting;
	sums->held += cell->held;
	sums->held_probes += cell->held_probes;
}

static bool is_leased(const struct family *family, uint32_t slot, const struct destination *one,
                      void *arg)
{
	const struct visit *visit = arg;
	const bool keeps = demand_of(visit->demand, one->policy) != NULL;

	if (!keeps)
		sightings_add(&visit->demand->sightings,
		              demand_cell_hash(&(struct demand_cell) { .region = family_key(family),
		                                                       .slot = slot,
		                                                       .key = LOAD(one->named) }));
	return keeps;
}

static void add_family(struct family *family, struct snapshot *snapshot, void *arg)
{
	struct visit *visit = arg;

	if (snapshot->state != SNAPSHOT_GOOD) {
		visit->demand->unreadable++;
		return;
	}
	sightings_add(&visit->demand->sightings, family_key(family));
	for (int i = 0; i < snapshot->slot_count; i++) {
		struct demand_label *label =
		    demand_of(visit->demand, snapshot->destinations[i].policy);

		if (label)
			add_cell(visit, family, i, (uint32_t)(label - visit->demand->labels));
	}
}

/* The slot as its process has left it. */
static bool read_last(const struct demand *demand, const struct demand_cell *cell,
                      struct destination *of)
{
	const struct region_file *file = last_look_at(&demand->last_look, cell->region);
	const size_t at = lease_offset(cell->slot) - offsetof(struct destination, budget) -
	                  offsetof(struct budget, lease);

	return file && cell->slot < REGION_CHUNK &&
	       region_file_read(file, at, of, sizeof(*of)) == SNAPSHOT_GOOD &&
	       LOAD(of->named) == cell->key;
}

/* Others may come to a share, or be there. */
static bool is_over(const struct demand_cell *cell)
{
	return cell->mapping.kind == MAPPING_OWN && !process_lives(&cell->member);
}

/* Of the round before, and not met in this. What it may still spend is not there to be lent. */
static void part_from(struct visit *visit, const struct demand_cell *before)
{
	static struct destination of;
	struct demand *demand = visit->demand;
	struct demand_label *label = &demand->labels[before->label];
	struct demand_cell cell = *before, *kept;
	const int64_t spent = label->spent, probed = label->probed;
	const bool is_read = read_last(demand, before, &of), ends = is_over(before);

	if (is_read) {
		read_sums(visit, &cell, &of);
		note_growth(visit, &cell, before, &of);
	}
	if (!is_read || !ends) {
		label->spent = spent + before->held;
		label->probed = probed + before->held_probes;
	}
	if (ends || visit->boot - before->seen_at > DEMAND_IN_USE ||
	    demand->cell_count >= ABSENT_MOST || !(kept = add_new(visit)))
		return;
	/* When it comes again what it has counted meanwhile is told from what it had before. */
	*kept = cell;
	kept->held = kept->held_probes = kept->wants = 0;
	kept->is_waiting = kept->in_use = kept->is_found = false;
}

static bool read_all(struct visit *visit)
{
	static const struct family_reader reader = { is_leased, add_family };
	size_t unreadable = 0;

	visit->demand->unreadable = 0;
	if (!families_read(&reader, visit, &unreadable))
		return false;
	visit->demand->unreadable += unreadable;
	if (visit->failed)
		errno = ENOMEM;
	return !visit->failed;
}

static void labels_turn(struct demand *demand)
{
	memcpy(demand->labels_before, demand->labels,
	       demand->label_count * sizeof(*demand->labels));
	for (size_t i = 0; i < demand->label_count; i++) {
		struct demand_label empty = { .success_at = demand->labels[i].success_at };

		memcpy(empty.label, demand->labels[i].label, sizeof(empty.label));
		demand->labels[i] = empty;
	}
}

static void labels_turn_back(struct demand *demand)
{
	memcpy(demand->labels, demand->labels_before,
	       demand->label_count * sizeof(*demand->labels));
}

bool demand_round(struct demand *demand, int64_t now)
{
	struct visit visit = { .demand = demand, .boot = now, .mono = monotonic() };

	visit.time = demand->looked_at > 0 ? greater(now - demand->looked_at, NS_PER_S) : NS_PER_S;
	if (!demand_cells_turn(demand)) {
		errno = ENOMEM;
		return false;
	}
	labels_turn(demand);
	sightings_turn(&demand->sightings);
	if (!read_all(&visit)) {
		labels_turn_back(demand);
		demand_cells_turn_back(demand);
		sightings_turn_back(&demand->sightings);
		last_look_turn_back(&demand->last_look);
		return false;
	}
	for (size_t i = 0; i < demand->before_count; i++)
		if (!demand->before[i].is_found)
			part_from(&visit, &demand->before[i]);
	last_look_turn(&demand->last_look);
	for (uint32_t i = 0; i < demand->label_count; i++)
		demand_sum_wants(demand, i, visit.time);
	demand->looked_at = now;
	demand->turn++;
	return true;
}
