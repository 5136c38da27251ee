/* SPDX-License-Identifier: MIT */
/* Two lists that change places each round, and an open table of hashes. */
#include "agent/demand_cells.h"

#include "sys/hash.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

bool demand_cells_start(struct demand *demand)
{
	demand->place_room = FIRST_ROOM;
	demand->places = calloc(demand->place_room, sizeof(*demand->places));
	return demand->places;
}

void demand_cells_end(struct demand *demand)
{
	free(demand->cells);
	free(demand->before);
	free(demand->places);
}

uint64_t demand_cell_hash(const struct demand_cell *cell)
{
	const int64_t parts[] = { (int64_t)cell->region, cell->slot, cell->key };

	return hash_bytes(HASH_START, parts, sizeof(parts));
}

static uint32_t *place_of(const struct demand *demand, const struct demand_cell *cell)
{
	size_t at = (size_t)demand_cell_hash(cell) & (demand->place_room - 1);

	for (; demand->places[at]; at = (at + 1) & (demand->place_room - 1)) {
		const struct demand_cell *one = &demand->before[demand->places[at] - 1];

		if (one->region == cell->region && one->slot == cell->slot && one->key == cell->key)
			break;
	}
	return &demand->places[at];
}

struct demand_cell *demand_cell_before(const struct demand *demand, const struct demand_cell *cell)
{
	const uint32_t place = *place_of(demand, cell);

	return place ? &demand->before[place - 1] : NULL;
}

static void swap(struct demand *demand)
{
	struct demand_cell *cells = demand->before;
	size_t room = demand->before_room;

	demand->before = demand->cells;
	demand->before_room = demand->cell_room;
	demand->cells = cells;
	demand->cell_room = room;
}

bool demand_cells_turn(struct demand *demand)
{
	while (demand->place_room < 2 * demand->cell_count) {
		uint32_t *places = calloc(2 * demand->place_room, sizeof(*places));

		if (!places)
			return false;
		free(demand->places);
		demand->places = places;
		demand->place_room *= 2;
	}
	swap(demand);
	demand->before_count = demand->cell_count;
	demand->cell_count = 0;
	memset(demand->places, 0, demand->place_room * sizeof(*demand->places));
	for (size_t i = 0; i < demand->before_count; i++)
		*place_of(demand, &demand->before[i]) = (uint32_t)i + 1;
	return true;
}

void demand_cells_turn_back(struct demand *demand)
{
	swap(demand);
	demand->cell_count = demand->before_count;
	demand->before_count = 0;
	memset(demand->places, 0, demand->place_room * sizeof(*demand->places));
	for (size_t i = 0; i < demand->cell_count; i++)
		demand->cells[i].is_found = false;
}

struct demand_cell *demand_cell_add(struct demand *demand)
{
	if (demand->cell_count == demand->cell_room) {
		size_t room = demand->cell_room ? 2 * demand->cell_room : FIRST_ROOM;
		struct demand_cell *cells = reallocarray(demand->cells, room, sizeof(*cells));

		if (!cells)
			return NULL;
		demand->cells = cells;
		demand->cell_room = room;
	}
	return memset(&demand->cells[demand->cell_count++], 0, sizeof(struct demand_cell));
}
