/* SPDX-License-Identifier: MIT */
/* Reading: from regions to what each label wants. */
#include "agent/host_demand.h"

#include "tool/family.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define FIRST_ROOM 64

bool demand_start(struct demand *demand, const struct config *config)
{
	*demand = (struct demand) { 0 };
	demand->labels = calloc((size_t)config->policy_count, sizeof(*demand->labels));
	demand->place_room = FIRST_ROOM;
	demand->places = calloc(demand->place_room, sizeof(*demand->places));
	if (!demand->labels || !demand->places) {
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
	free(demand->cells);
	free(demand->before);
	free(demand->places);
	*demand = (struct demand) { 0 };
}

struct demand_label *demand_of(struct demand *demand, const char *label)
{
	for (size_t i = 0; i < demand->label_count; i++)
		if (strcmp(demand->labels[i].label, label) == 0)
			return &demand->labels[i];
	return NULL;
}

static int64_t clock_now(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0xbf58476d1ce4e5b9);
	return hash ^ hash >> 31;
}

static uint64_t hash_of(const struct demand_cell *cell)
{
	return mix(mix(mix(UINT64_C(0xcbf29ce484222325), cell->region), cell->slot),
	           (uint64_t)cell->key);
}

/* A region is its file, and who signed it and when: numbers of memfds come again. */
static uint64_t region_of(const struct family *family)
{
	const struct mapping *at = &family->members[0].regions[family->snapshot->mapping];
	const struct region_identity *who = &family->snapshot->region->identity;

	return mix(
	    mix(mix((uint64_t)at->major << 32 | at->minor, at->inode), (uint64_t)LOAD(who->pid)),
	    (uint64_t)LOAD(who->started));
}

static uint32_t *place_of(struct demand *demand, const struct demand_cell *cell)
{
	size_t at = (size_t)hash_of(cell) & (demand->place_room - 1);

	for (; demand->places[at]; at = (at + 1) & (demand->place_room - 1)) {
		const struct demand_cell *one = &demand->before[demand->places[at] - 1];

		if (one->region == cell->region && one->slot == cell->slot && one->key == cell->key)
			break;
	}
	return &demand->places[at];
}

/* What was found becomes what was before. False: no memory. */
static bool keep_before(struct demand *demand)
{
	struct demand_cell *cells = demand->before;
	size_t room = demand->before_room;

	while (demand->place_room < 2 * demand->cell_count) {
		uint32_t *places = calloc(2 * demand->place_room, sizeof(*places));

		if (!places)
			return false;
		free(demand->places);
		demand->places = places;
		demand->place_room *= 2;
	}
	demand->before = demand->cells;
	demand->before_count = demand->cell_count;
	demand->before_room = demand->cell_room;
	demand->cells = cells;
	demand->cell_count = 0;
	demand->cell_room = room;
	memset(demand->places, 0, demand->place_room * sizeof(*demand->places));
	for (size_t i = 0; i < demand->before_count; i++)
		*place_of(demand, &demand->before[i]) = (uint32_t)i + 1;
	return true;
}

struct visit {
	struct demand *demand;
	int64_t boot, mono; /* ns, now */
	int64_t time;       /* ns since the round before, a second at least */
	bool failed;
};

static struct demand_cell *new_cell(struct visit *visit)
{
	struct demand *demand = visit->demand;

	if (demand->cell_count == demand->cell_room) {
		size_t room = demand->cell_room ? 2 * demand->cell_room : FIRST_ROOM;
		struct demand_cell *cells = reallocarray(demand->cells, room, sizeof(*cells));

		if (!cells) {
			visit->failed = true;
			return NULL;
		}
		demand->cells = cells;
		demand->cell_room = room;
	}
	return memset(&demand->cells[demand->cell_count++], 0, sizeof(struct demand_cell));
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

/* When the last success was, of those that were counted since the round before. */
static int64_t success_at(const struct visit *visit, const struct destination *of)
{
	int64_t at = LOAD(of->budget.allowance.answered_at), boot;

	if (at <= 0 || at > visit->mono)
		return visit->demand->looked_at;
	boot = at + (visit->boot - visit->mono);
	return greater(boot, visit->demand->looked_at);
}

static void note_growth(struct visit *visit, struct demand_cell *cell, const struct destination *of)
{
	struct demand_label *label = &visit->demand->labels[cell->label];
	uint32_t place = *place_of(visit->demand, cell);
	const struct demand_cell *before;
	int64_t successes;

	if (!place)
		return;
	before = &visit->demand->before[place - 1];
	cell->wants = lesser(grown(cell->retries, before->retries),
	                     demand_most(DEMAND_CELL_MOST, visit->time));
	/* Each is a claim, and may be any number. */
	label->throttled = later(label->throttled, grown(cell->throttled, before->throttled));
	label->failures = later(label->failures, grown(cell->failures, before->failures));
	successes = grown(cell->successes, before->successes);
	label->successes = later(label->successes, successes);
	if (successes > 0)
		label->success_at = greater(label->success_at, success_at(visit, of));
	/* No more than had been lent, whatever they claim. */
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

/* at: which of the slots that were read. */
static void add_cell(struct visit *visit, const struct family *family, int at, uint32_t label)
{
	const struct destination *of = &family->snapshot->destinations[at];
	uint32_t slot = family->snapshot->slots[at];
	struct demand_label *sums = &visit->demand->labels[label];
	struct demand_cell *cell = new_cell(visit);
	int64_t streak = LOAD(of->budget.streak), wanted_at = LOAD(of->budget.wanted_at);

	if (!cell)
		return;
	cell->region = region_of(family);
	cell->slot = slot;
	cell->label = label;
	cell->key = LOAD(of->named);
	cell->member = family->members[0];
	cell->mapping = family->members[0].regions[family->snapshot->mapping];
	cell->chunk = snapshot_chunk(family->snapshot, slot / REGION_CHUNK);
	cell->user = family->members[0].user;
	note_lease(visit, cell, &of->budget.lease);
	cell->retries = LOAD(of->tally.retries);
	cell->throttled = LOAD(of->tally.avoided);
	cell->successes = sum(of->tally.answered);
	cell->failures = sum(of->tally.failed);
	cell->is_waiting = streak > 0 && is_recent(wanted_at, DEMAND_WAITING, visit->mono);
	cell->in_use = cell->is_waiting || is_recent(LOAD(of->used_at), DEMAND_IN_USE, visit->mono);
	note_growth(visit, cell, of);
	if (cell->is_waiting)
		cell->wants = greater(cell->wants, 1);
	sums->members += cell->in_use;
	sums->waiting += cell->is_waiting;
	sums->held += cell->held;
	sums->held_probes += cell->held_probes;
}

static void add_family(struct family *family, struct snapshot *snapshot, void *arg)
{
	struct visit *visit = arg;

	if (snapshot->state != SNAPSHOT_GOOD) {
		visit->demand->unreadable++;
		return;
	}
	for (int i = 0; i < snapshot->slot_count; i++) {
		struct demand_label *label =
		    demand_of(visit->demand, snapshot->destinations[i].policy);

		if (label)
			add_cell(visit, family, i, (uint32_t)(label - visit->demand->labels));
	}
}

/* What a label's cells want together, each user's part capped. Of more users than there is room
 * for, the last part is that of all the others. */
static void sum_wants(struct demand *demand, uint32_t label, int64_t time)
{
	enum { USERS = 64 };
	struct demand_label *sums = &demand->labels[label];
	struct {
		uid_t user;
		int64_t wants;
	} users[USERS];
	size_t count = 0;

	for (size_t i = 0; i < demand->cell_count; i++) {
		const struct demand_cell *cell = &demand->cells[i];
		size_t at = 0;

		if (cell->label != label || cell->wants == 0)
			continue;
		while (at < count && at < USERS - 1 && users[at].user != cell->user)
			at++;
		if (at == count) {
			users[count].user = cell->user;
			users[count++].wants = 0;
		}
		users[at].wants =
		    lesser(users[at].wants + cell->wants, demand_most(DEMAND_USER_MOST, time));
	}
	for (size_t i = 0; i < count; i++)
		sums->wanted += users[i].wants;
	sums->wanted = lesser(sums->wanted, demand_most(DEMAND_HOST_MOST, time));
}

bool demand_round(struct demand *demand, int64_t now)
{
	struct visit visit = { .demand = demand, .boot = now, .mono = clock_now(CLOCK_MONOTONIC) };
	size_t unreadable = 0;

	visit.time = demand->looked_at > 0 ? greater(now - demand->looked_at, NS_PER_S) : NS_PER_S;
	if (!keep_before(demand)) {
		errno = ENOMEM;
		return false;
	}
	for (size_t i = 0; i < demand->label_count; i++) {
		struct demand_label empty = { .success_at = demand->labels[i].success_at };

		memcpy(empty.label, demand->labels[i].label, sizeof(empty.label));
		demand->labels[i] = empty;
	}
	demand->unreadable = 0;
	if (!families_visit(0, add_family, &visit, &unreadable))
		return false;
	if (visit.failed) {
		errno = ENOMEM;
		return false;
	}
	demand->unreadable += unreadable;
	for (uint32_t i = 0; i < demand->label_count; i++)
		sum_wants(demand, i, visit.time);
	demand->looked_at = now;
	demand->turn++;
	return true;
}
