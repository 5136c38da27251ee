/* SPDX-License-Identifier: MIT */
/* By the hash of their names; who finds no place is `other`. */
#include "agent/series.h"

#include "sys/hash.h"

#include <string.h>

/* Into zeroes. */
static void keep_text(char *to, const char *text, size_t size)
{
	memcpy(to, text, strnlen(text, size - 1));
}

static bool is_named(const struct series *series, const char *program, const char *destination,
                     const char *policy)
{
	return strcmp(series->destination, destination) == 0 &&
	       strcmp(series->program, program) == 0 && strcmp(series->policy, policy) == 0;
}

/* Where its number stands in places[], or is to be put. */
static uint32_t *find(const struct totals *totals, const char *program, const char *destination,
                      const char *policy)
{
	uint64_t hash = hash_bytes(hash_bytes(hash_bytes(HASH_START, program, strlen(program) + 1),
	                                      destination, strlen(destination) + 1),
	                           policy, strlen(policy));
	size_t at = (size_t)(hash ^ hash >> 32) & (totals->place_room - 1);

	while (totals->places[at] != 0 &&
	       !is_named(&totals->series[totals->places[at]], program, destination, policy))
		at = (at + 1) & (totals->place_room - 1);
	return &totals->places[at];
}

struct series *series_of(struct totals *totals, const char *program, const char *destination,
                         const char *policy, bool has_news)
{
	uint32_t *place = find(totals, program, destination, policy);
	struct series *series;

	if (*place != 0)
		return &totals->series[*place];
	/* A program may call itself `other`, but no two series are called alike. */
	if ((!has_news && totals->was_full) ||
	    is_named(&totals->series[0], program, destination, policy))
		return &totals->series[0];
	if (totals->count == totals->limit) {
		totals->is_full = totals->was_full = true;
		return &totals->series[0];
	}
	*place = (uint32_t)totals->count;
	series = &totals->series[totals->count++];
	keep_text(series->program, program, sizeof(series->program));
	keep_text(series->destination, destination, sizeof(series->destination));
	keep_text(series->policy, policy, sizeof(series->policy));
	return series;
}

void series_make_room(struct totals *totals, double now)
{
	size_t count = 1;

	for (size_t i = 1; i < totals->count; i++) {
		if (now - totals->series[i].counted >= TOTALS_IDLE)
			continue;
		if (count < i)
			totals->series[count] = totals->series[i];
		count++;
	}
	if (count >= totals->count)
		return;
	memset(&totals->series[count], 0, (totals->count - count) * sizeof(*totals->series));
	totals->count = count;
	memset(totals->places, 0, totals->place_room * sizeof(*totals->places));
	for (size_t i = 1; i < count; i++) {
		const struct series *one = &totals->series[i];

		*find(totals, one->program, one->destination, one->policy) = (uint32_t)i;
	}
}
