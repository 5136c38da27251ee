/* SPDX-License-Identifier: MIT */
/* Two lists that change places each round. */
#include "agent/sightings.h"

#include <stdlib.h>

#define LEAST_ROOM 64

static int compare(const void *a, const void *b)
{
	const uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static void swap_lists(struct sightings *sightings)
{
	uint64_t *list = sightings->before;
	size_t room = sightings->before_room;

	sightings->before = sightings->now;
	sightings->before_room = sightings->room;
	sightings->now = list;
	sightings->room = room;
}

void sightings_turn(struct sightings *sightings)
{
	swap_lists(sightings);
	sightings->before_count = sightings->count;
	sightings->count = 0;
	sightings->was_partial = sightings->is_partial;
	sightings->is_partial = false;
	if (sightings->before_count > 0)
		qsort(sightings->before, sightings->before_count, sizeof(*sightings->before),
		      compare);
}

void sightings_turn_back(struct sightings *sightings)
{
	swap_lists(sightings);
	sightings->count = sightings->before_count;
	sightings->before_count = 0;
	sightings->is_partial = sightings->was_partial;
}

void sightings_add(struct sightings *sightings, uint64_t hash)
{
	if (sightings->count == sightings->room) {
		size_t room = sightings->room ? 2 * sightings->room : LEAST_ROOM;
		uint64_t *list = reallocarray(sightings->now, room, sizeof(*list));

		if (!list) {
			sightings->is_partial = true;
			return;
		}
		sightings->now = list;
		sightings->room = room;
	}
	sightings->now[sightings->count++] = hash;
}

bool sightings_had(const struct sightings *sightings, uint64_t hash)
{
	if (sightings->was_partial)
		return true;
	return sightings->before_count > 0 &&
	       bsearch(&hash, sightings->before, sightings->before_count, sizeof(hash), compare);
}

void sightings_end(struct sightings *sightings)
{
	free(sightings->now);
	free(sightings->before);
	*sightings = (struct sightings) { 0 };
}
