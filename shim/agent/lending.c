/* SPDX-License-Identifier: MIT */
/* Writing: from what a host holds to the cells of its regions. */
#include "agent/lending.h"

#include "tool/region_file.h"

#include <stdlib.h>
#include <string.h>

/* A cell on its way from what it has to what it is to get. */
struct part {
	struct demand_cell *cell;
	int64_t target, probes; /* mt, and probes */
	int64_t has, has_probes;
	bool is_lost; /* it cannot be written, and may spend what it had */
};

/* One chunk of a region at a time: its cells come one after the other. */
struct opened {
	struct region_file file;
	uint64_t region;
	uint32_t chunk;
	bool is_open;
};

struct lending {
	struct demand *demand;
	const char *label;
	int64_t hash; /* of the label */
	struct lease_grant grant;
	int64_t now;          /* ns, CLOCK_BOOTTIME */
	int64_t left, probes; /* of what is to be divided, may become negative */
	struct opened opened;
	struct part *parts;
	size_t count;
};

static void close_region(struct opened *opened)
{
	if (opened->is_open)
		region_file_close(&opened->file);
	opened->is_open = false;
}

static enum snapshot_state open_region(const struct demand_cell *cell, struct region_file *file)
{
	enum snapshot_state state = region_file_open(&cell->member, &cell->mapping, true, file);
	int64_t head[2];

	if (state != SNAPSHOT_GOOD)
		return state;
	state = region_file_read(file, 0, head, sizeof(head));
	if (state == SNAPSHOT_GOOD &&
	    (head[0] != REGION_MAGIC || head[1] != (int64_t)sizeof(struct region)))
		state = SNAPSHOT_GONE;
	if (state != SNAPSHOT_GOOD)
		region_file_close(file);
	return state;
}

/* SNAPSHOT_GONE: its process has ended, or the mapping, or another destination has the slot. */
static enum snapshot_state open_chunk(struct opened *opened, const struct demand_cell *cell)
{
	enum snapshot_state state;

	if (!opened->is_open || opened->region != cell->region ||
	    opened->chunk != cell->chunk.number) {
		close_region(opened);
		state = cell->chunk.number == 0
		            ? open_region(cell, &opened->file)
		            : chunk_file_open(&cell->member, &cell->mapping, &cell->chunk, true,
		                              &opened->file);
		if (state != SNAPSHOT_GOOD)
			return state;
		opened->is_open = true;
		opened->region = cell->region;
		opened->chunk = cell->chunk.number;
	}
	if (opened->file.fd >= 0 || process_lives(&cell->member))
		return SNAPSHOT_GOOD;
	close_region(opened);
	return SNAPSHOT_GONE;
}

static enum snapshot_state read_cell(struct lending *lending, const struct demand_cell *cell,
                                     struct lease *lease)
{
	enum snapshot_state state = open_chunk(&lending->opened, cell);
	int64_t key = 0;

	if (state == SNAPSHOT_GOOD)
		state = region_file_read(&lending->opened.file, key_offset(cell->slot), &key,
		                         sizeof(key));
	if (state == SNAPSHOT_GOOD && key != cell->key)
		return SNAPSHOT_GONE;
	if (state == SNAPSHOT_GOOD)
		state = region_file_read(&lending->opened.file, lease_offset(cell->slot), lease,
		                         sizeof(*lease));
	return state;
}

static bool write_cell(struct lending *lending, const struct demand_cell *cell,
                       const struct lease *seen, int64_t tokens, int64_t probes)
{
	struct lease_grant grant = lending->grant;
	struct lease words;

	grant.tokens = tokens;
	grant.probes = probes;
	lease_compose(&words, seen, lending->label, &grant);
	return region_file_write(&lending->opened.file, lease_offset(cell->slot), &words,
	                         LEASE_BYTES) == SNAPSHOT_GOOD;
}

/* Who cannot be reached takes no part; what he may still spend is not there to be divided. */
static void reach(struct lending *lending, struct part *part)
{
	struct lease seen = { .check = 0 };
	enum snapshot_state state = read_cell(lending, part->cell, &seen);

	part->is_lost = state != SNAPSHOT_GOOD;
	if (!part->is_lost || state == SNAPSHOT_GONE)
		return;
	part->has = part->cell->held;
	part->has_probes = part->cell->held_probes;
	lending->left -= part->has;
	lending->probes -= part->has_probes;
}

/* How much of `most` a count has grown by, which may be any number at each look: from below zero by
 * all of it, for nobody can say. */
static int64_t grown_by(int64_t now, int64_t before, int64_t most)
{
	if (now < before)
		return 0;
	return before < 0 && now >= 0 ? most : within(now - before, 0, most);
}

/* To no more than it is to get. What it has spent since the round is gone from what is divided: it
 * may spend of its old lease until the new one is there, so that is asked for afterwards. */
static void shrink(struct lending *lending, struct part *part)
{
	struct demand_cell *cell = part->cell;
	struct lease_view view;
	struct lease seen = { .check = 0 };

	if (part->is_lost)
		return;
	if (read_cell(lending, cell, &seen) == SNAPSHOT_GOOD) {
		lease_read(&seen, lending->hash, lending->now, &view);
		(void)write_cell(lending, cell, &seen, lesser(view.left, part->target),
		                 lesser(view.probes, part->probes));
	}
	if (read_cell(lending, cell, &seen) != SNAPSHOT_GOOD) {
		reach(lending, part);
		return;
	}
	lease_read(&seen, lending->hash, lending->now, &view);
	part->has = view.left;
	part->has_probes = view.probes;
	lending->left -= part->has + grown_by(LOAD(seen.spent), cell->spent, cell->held);
	lending->probes -=
	    part->has_probes + grown_by(LOAD(seen.probed), cell->probed, cell->held_probes);
}

static void grow(struct lending *lending, struct part *part)
{
	int64_t more = within(part->target - part->has, 0, greater(lending->left, 0));
	int64_t probes = within(part->probes - part->has_probes, 0, greater(lending->probes, 0));
	struct demand_cell *cell = part->cell;
	struct lease_view view;
	struct lease seen = { .check = 0 };

	if (part->is_lost || (more == 0 && probes == 0) ||
	    read_cell(lending, cell, &seen) != SNAPSHOT_GOOD)
		return;
	lease_read(&seen, lending->hash, lending->now, &view);
	lending->left -= more;
	lending->probes -= probes;
	cell->held += more;
	cell->held_probes += probes;
	if (!write_cell(lending, cell, &seen, view.left + more, view.probes + probes))
		return; /* some of it may be there: it counts as given, and not as had */
	part->has += more;
	part->has_probes += probes;
}

/* Who cannot be reached claims nothing. */
static struct claim claim_of(const struct part *part)
{
	if (part->is_lost)
		return (struct claim) { .user = part->cell->user };
	return (struct claim) { .user = part->cell->user,
		                .wants = part->cell->wants,
		                .in_use = part->cell->in_use };
}

/* Whole tokens; what cannot be divided stays with the host. */
static bool choose_targets(struct lending *lending)
{
	struct claim *claims = calloc(lending->count, sizeof(*claims));
	int64_t tokens = greater(lending->left, 0) / MT_PER_TOKEN, probes = lending->probes;
	uint64_t turn = lending->demand->turn;

	if (!claims)
		return false;
	for (size_t i = 0; i < lending->count; i++)
		claims[i] = claim_of(&lending->parts[i]);
	fair_lend(claims, lending->count, tokens, turn);
	for (size_t i = 0; i < lending->count; i++)
		lending->parts[i].target = claims[i].gets * MT_PER_TOKEN;
	for (size_t n = 0; n < lending->count; n++) {
		struct part *part = &lending->parts[(turn + n) % lending->count];

		part->probes = part->cell->is_waiting && !part->is_lost && probes > 0;
		probes -= part->probes;
	}
	free(claims);
	return true;
}

/* Those of the label. Who is out of use may still hold something. */
static bool choose_cells(struct lending *lending)
{
	struct demand *demand = lending->demand;

	lending->parts = calloc(demand->cell_count + 1, sizeof(*lending->parts));
	for (size_t i = 0; lending->parts && i < demand->cell_count; i++) {
		struct demand_cell *cell = &demand->cells[i];

		if (strcmp(demand->labels[cell->label].label, lending->label) == 0 &&
		    (cell->in_use || cell->held > 0 || cell->held_probes > 0))
			lending->parts[lending->count++].cell = cell;
	}
	return lending->parts;
}

int64_t demand_lend(struct demand *demand, const char *label, const struct lease_grant *host,
                    int64_t now)
{
	const struct demand_label *sums = demand_of(demand, label);
	struct lending lending = {
		.demand = demand,
		.label = label,
		.hash = lease_label(label),
		.grant = *host,
		.now = now,
		.left = greater(host->tokens, 0),
		.probes = greater(host->probes, 0),
	};
	int64_t held = 0;

	if (!sums)
		return 0;
	lending.grant.members = sums->members;
	if (!choose_cells(&lending))
		held = -1;
	for (size_t i = 0; i < lending.count; i++)
		reach(&lending, &lending.parts[i]);
	if (held < 0 || (lending.count > 0 && !choose_targets(&lending)))
		held = -1;
	for (size_t i = 0; held == 0 && i < lending.count; i++)
		shrink(&lending, &lending.parts[i]);
	for (size_t i = 0; held == 0 && i < lending.count; i++)
		grow(&lending, &lending.parts[i]);
	for (size_t i = 0; held >= 0 && i < lending.count; i++)
		held += lending.parts[i].has;
	close_region(&lending.opened);
	free(lending.parts);
	return held;
}
