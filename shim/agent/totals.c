/* SPDX-License-Identifier: MIT */
/* Sums that never fall, over processes that come and go. */
#include "agent/totals.h"

#include "agent/series.h"
#include "sys/hash.h"

#include <stdlib.h>
#include <string.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define FIRST_ROOM    256  /* a power of two, as every room is */
#define LONGEST_ROUND 7200 /* s */

/* Rounds for which a region may stay unread: with no descriptor or memory free, or its process in
 * an execve. One that is forgotten sooner would be counted whole once more, as the work of a
 * moment. */
#define MISSED 10

#define MASK_BITS  64
#define MASK_WORDS ((TOTALS_VALUES + MASK_BITS - 1) / MASK_BITS)

/* Those that are not 0, in the order of their places: of a hundred and more, a destination counts a
 * dozen. */
struct packed {
	uint64_t mask[MASK_WORDS]; /* a bit for each place that is here */
	int64_t values[];
};

struct last {
	uint64_t key; /* 0: free */
	uint64_t round;
	struct packed *values; /* NULL: all 0 */
};

bool totals_start(struct totals *totals, size_t most)
{
	*totals = (struct totals) {
		.limit = most + 1, .count = 1, .last_room = FIRST_ROOM, .point = TOTALS_POINT
	};
	totals->series = calloc(totals->limit, sizeof(*totals->series));
	totals->last = calloc(totals->last_room, sizeof(*totals->last));
	for (totals->place_room = FIRST_ROOM; totals->place_room < 2 * totals->limit;)
		totals->place_room *= 2;
	totals->places = calloc(totals->place_room, sizeof(*totals->places));
	if (!totals->series || !totals->last || !totals->places) {
		totals_end(totals);
		return false;
	}
	strcpy(totals->series[0].program, "other");
	strcpy(totals->series[0].destination, "other");
	strcpy(totals->series[0].policy, "other");
	return true;
}

void totals_end(struct totals *totals)
{
	for (size_t i = 0; totals->last && i < totals->last_room; i++)
		free(totals->last[i].values);
	free(totals->series);
	free(totals->last);
	free(totals->places);
	*totals = (struct totals) { 0 };
}

void totals_begin(struct totals *totals)
{
	totals->round++;
	for (size_t i = 0; i < totals->count; i++) {
		struct series *series = &totals->series[i];

		series->tokens = series->capacity = series->processes = 0;
		series->breaker_open = series->breaker_half_open = 0;
		series->counts = false;
	}
	totals->is_full = false;
}

static struct last *place_of(struct last *table, size_t room, uint64_t key)
{
	size_t at = (size_t)(key ^ key >> 32) & (room - 1);

	while (table[at].key != 0 && table[at].key != key)
		at = (at + 1) & (room - 1);
	return &table[at];
}

static bool is_gone(const struct totals *totals, const struct last *one)
{
	return totals->round - one->round > MISSED;
}

/* Into a table of its size anew, without those that are gone if stale is false. */
static bool rebuild(struct totals *totals, size_t room, bool stale)
{
	struct last *table = calloc(room, sizeof(*table));

	if (!table)
		return false;
	totals->last_count = 0;
	for (size_t i = 0; i < totals->last_room; i++) {
		const struct last *one = &totals->last[i];

		if (one->key == 0 || (!stale && is_gone(totals, one))) {
			free(one->values);
			continue;
		}
		*place_of(table, room, one->key) = *one;
		totals->last_count++;
	}
	free(totals->last);
	totals->last = table;
	totals->last_room = room;
	return true;
}

int64_t totals_throttled(const struct series *series)
{
	return series->values[TALLY_PLACE(avoided)] + series->values[TALLY_PLACE(held)];
}

/* A process was read between the one count and the other: a counter that fell by one would be taken
 * for one that began anew. */
static void differ(int64_t *place, int64_t of, int64_t less)
{
	*place = greater(*place, of - lesser(of, less));
}

static void note_differences(struct series *series)
{
	int64_t *values = series->values;

	differ(&values[TOTALS_REFUSED], values[TALLY_PLACE(avoided)], values[TALLY_PLACE(parked)]);
	differ(&values[TOTALS_WOULD], values[TALLY_PLACE(refused)], values[TALLY_PLACE(avoided)]);
	series->observed = values[TOTALS_WOULD] > series->would_before;
	series->would_before = values[TOTALS_WOULD];
}

/* Points that are over since the one that is under way began; the next is then under way. */
static size_t points_over(struct totals *totals, double now)
{
	/* A round may come a little before its time. */
	double over = (now - totals->point_began) / totals->point + 0.25;

	if (totals->round <= 1 || over < 0 || over >= TOTALS_RECENT) {
		totals->point_began = now;
		return TOTALS_RECENT;
	}
	totals->point_began += (double)(size_t)over * totals->point;
	return (size_t)over;
}

/* What is there at the end of a round stands for the time since the one before. Time in which the
 * machine slept tells nothing. */
static void note_levels(struct series *series, double time)
{
	if (time <= 0 || time > LONGEST_ROUND)
		return;
	series->token_seconds += (double)greater(series->tokens, 0) / MT_PER_TOKEN * time;
	series->capacity_seconds += (double)series->capacity / MT_PER_TOKEN * time;
}

static void note_recent(struct series *series, size_t over)
{
	int64_t sum = totals_throttled(series);
	size_t kept = TOTALS_RECENT - over;

	memmove(series->recent, series->recent + over, kept * sizeof(int64_t));
	memset(series->recent + kept, 0, over * sizeof(int64_t));
	series->recent[TOTALS_RECENT - 1] += sum - series->throttled_before;
	series->throttled_before = sum;
}

void totals_finish(struct totals *totals, double now)
{
	size_t live = 0, room = FIRST_ROOM, over = points_over(totals, now);

	for (size_t i = 0; i < totals->count; i++) {
		if (totals->round > 1)
			note_levels(&totals->series[i], now - totals->finished);
		note_differences(&totals->series[i]);
		note_recent(&totals->series[i], over);
		if (totals->series[i].counts)
			totals->series[i].counted = now;
	}
	if (totals->is_full)
		series_make_room(totals, now);
	totals->finished = now;
	for (size_t i = 0; i < totals->last_room; i++)
		live += totals->last[i].key != 0 && !is_gone(totals, &totals->last[i]);
	while (room < 2 * live)
		room *= 2;
	if (live != totals->last_count)
		(void)rebuild(totals, room, false);
}

static struct last *last_of(struct totals *totals, uint64_t key)
{
	struct last *one;

	if (2 * (totals->last_count + 1) > totals->last_room &&
	    !rebuild(totals, 2 * totals->last_room, true) &&
	    totals->last_count + 1 >= totals->last_room)
		return NULL;
	one = place_of(totals->last, totals->last_room, key);
	if (one->key == 0) {
		one->key = key;
		totals->last_count++;
	}
	return one;
}

static void unpack(const struct packed *packed, int64_t values[TOTALS_VALUES])
{
	const int64_t *next = packed ? packed->values : NULL;

	for (size_t i = 0; i < TOTALS_VALUES; i++)
		values[i] =
		    packed && packed->mask[i / MASK_BITS] >> i % MASK_BITS & 1 ? *next++ : 0;
}

/* False: no memory, and what was there stays. */
static bool pack(struct packed **packed, const int64_t values[TOTALS_VALUES])
{
	uint64_t mask[MASK_WORDS] = { 0 };
	size_t count = 0;
	int64_t *next;

	for (size_t i = 0; i < TOTALS_VALUES; i++) {
		mask[i / MASK_BITS] |= (uint64_t)(values[i] != 0) << i % MASK_BITS;
		count += values[i] != 0;
	}
	if (!*packed || memcmp((*packed)->mask, mask, sizeof(mask)) != 0) {
		struct packed *room = realloc(*packed, sizeof(*room) + count * sizeof(int64_t));

		if (!room)
			return false;
		*packed = room;
		memcpy(room->mask, mask, sizeof(mask));
	}
	next = (*packed)->values;
	for (size_t i = 0; i < TOTALS_VALUES; i++)
		if (values[i] != 0)
			*next++ = values[i];
	return true;
}

static void note_state(struct series *series, const struct destination *destination)
{
	uint64_t holding = (uint64_t)LOAD(destination->budget.bucket.holding);
	int64_t capacity = (int64_t)(holding >> 32), tokens = (int32_t)(holding & UINT32_MAX);

	if (holding != 0) {
		add_to(&series->tokens, lesser(tokens, capacity));
		add_to(&series->capacity, capacity);
	}
	series->processes++;
	series->last_failure = LOAD(destination->last_failure);
}

void totals_add(struct totals *totals, uint64_t region, unsigned int slot, const char *program,
                const struct destination *destination)
{
	const cell64 *now = (const cell64 *)&destination->tally;
	char name[REGION_NAME + 1] = "", policy[REGION_LABEL + 1] = "";
	int64_t before[TOTALS_VALUES], values[TOTALS_VALUES] = { 0 };
	struct series *series;
	struct last *last;
	bool has_news;
	uint64_t key;

	memcpy(name, destination->name, strnlen(destination->name, REGION_NAME));
	memcpy(policy, destination->policy, strnlen(destination->policy, REGION_LABEL));
	key = hash_bytes(
		  hash_bytes(hash_bytes(HASH_START, &region, sizeof(region)), &slot, sizeof(slot)),
		  name, strlen(name)) |
	      1;
	last = last_of(totals, key);
	for (size_t i = 0; i < TOTALS_VALUES; i++)
		values[i] = greater(LOAD(now[i]), 0);
	unpack(last ? last->values : NULL, before);
	has_news = last && (last->round == 0 || memcmp(before, values, sizeof(values)) != 0);
	series = series_of(totals, program, name, policy, has_news);
	if (!last || last->round != totals->round)
		note_state(series, destination);
	if (!last)
		return;
	last->round = totals->round;
	if (!pack(&last->values, values))
		return;
	series->counts |= has_news;
	for (size_t i = 0; i < TOTALS_VALUES; i++)
		/* A slot that was given away and taken again begins anew. */
		add_to(&series->values[i],
		       values[i] >= before[i] ? values[i] - before[i] : values[i]);
}
