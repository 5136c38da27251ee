/* SPDX-License-Identifier: MIT */
/* Bucket n holds the events whose time differs from the last one's in bit n - 1 at the highest. */
#include "tool/sim_events.h"

#include <stdlib.h>
#include <string.h>

static size_t place_of(const struct sim_events *events, int64_t at)
{
	uint64_t other = (uint64_t)at ^ (uint64_t)events->last;

	return other ? 64 - (size_t)__builtin_clzll(other) : 0;
}

static void add(struct sim_events *events, size_t place, const struct sim_event *event)
{
	struct sim_bucket *bucket = &events->buckets[place];

	if (bucket->count == bucket->room) {
		size_t room = bucket->room ? bucket->room * 2 : 64;
		struct sim_event *all = realloc(bucket->all, room * sizeof(*all));

		if (!all) {
			events->full = true;
			return;
		}
		bucket->all = all;
		bucket->room = room;
	}
	bucket->all[bucket->count++] = *event;
	if (place)
		events->used |= UINT64_C(1) << (place - 1);
}

void sim_events_put(struct sim_events *events, const struct sim_event *event)
{
	add(events, place_of(events, event->at), event);
}

/* The next bucket is dealt out to those before it, from its earliest event on. */
static void deal(struct sim_events *events, size_t place)
{
	struct sim_bucket *bucket = &events->buckets[place];
	size_t count = bucket->count;

	events->last = bucket->all[0].at;
	for (size_t i = 1; i < count; i++)
		if (bucket->all[i].at < events->last)
			events->last = bucket->all[i].at;
	bucket->count = 0;
	events->used &= ~(UINT64_C(1) << (place - 1));
	for (size_t i = 0; i < count; i++)
		add(events, place_of(events, bucket->all[i].at), &bucket->all[i]);
}

bool sim_events_take(struct sim_events *events, struct sim_event *event)
{
	struct sim_bucket *now = &events->buckets[0];

	if (events->first == now->count) {
		events->first = now->count = 0;
		if (!events->used)
			return false;
		deal(events, 1 + (size_t)__builtin_ctzll(events->used));
	}
	*event = now->all[events->first++];
	return true;
}

void sim_events_free(struct sim_events *events)
{
	for (size_t i = 0; i < sizeof(events->buckets) / sizeof(*events->buckets); i++)
		free(events->buckets[i].all);
	memset(events, 0, sizeof(*events));
}
