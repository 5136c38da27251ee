/* SPDX-License-Identifier: MIT */
/* What was there at the round before, by hash: a program that is seen for the first time is told
 * from one whose file has only begun to name a label. */
#ifndef RETRYBUDGET_AGENT_SIGHTINGS_H
#define RETRYBUDGET_AGENT_SIGHTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sightings {
	uint64_t *now, *before; /* the last is in order */
	size_t count, before_count, room, before_room;
	bool is_partial, was_partial; /* there was no memory for some */
};

/* A round begins: what was seen becomes what was before. */
void sightings_turn(struct sightings *sightings);

/* It has failed: what was before is what was seen last, again. */
void sightings_turn_back(struct sightings *sightings);

void sightings_add(struct sightings *sightings, uint64_t hash);

/* True if it was there, or that is not known. */
bool sightings_had(const struct sightings *sightings, uint64_t hash);

void sightings_end(struct sightings *sightings);

#endif
