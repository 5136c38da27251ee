/* SPDX-License-Identifier: MIT */
/* An event is moved once for each digit in which those beside it differ, and moving is what most of
 * a simulation's time goes to: four bits a digit cost the least. */
#include "tool/sim_events.h"

#include <stdlib.h>
#include <string.h>

static bool add(struct sim_events *events, struct sim_bucket *bucket, const struct sim_event *event)
{
	if (bucket->count == bucket->room) {
		size_t room = bucket->room ? bucket->room * 2 : 16;
		struct sim_event *all = realloc(bucket->all, room * sizeof(*all));

		if (!all) {
			events->full = true;
			return false;
		}
		bucket->all = all;
		bucket->room = room;
	}
	bucket->all[bucket->count++] = *event;
	return true;
}

void sim_events_put(struct sim_events *events, const struct sim_event *event)
{
	uint64_t other = (uint64_t)event->at ^ (uint64_t)events->last;
	unsigned int digit, value;

	if (!other) {
		(void)add(events, &events->now, event);
		return;
	}
	digit = (63 - (unsigned int)__builtin_clzll(other)) / SIM_DIGIT_BITS;
	value = (unsigned int)((uint64_t)event->at >> digit * SIM_DIGIT_BITS) &
	        ((1 << SIM_DIGIT_BITS) - 1);
	if (!add(events, &events->later[digit][value], event))
		return;
	events->used[digit] |= UINT64_C(1) << value;
	events->digits |= UINT64_C(1) << digit;
}

/* The next bucket is dealt out to those before it, from its earliest event on. */
static void deal(struct sim_events *events)
{
	unsigned int digit = (unsigned int)__builtin_ctzll(events->digits);
	unsigned int value = (unsigned int)__builtin_ctzll(events->used[digit]);
	struct sim_bucket *bucket = &events->later[digit][value];
	size_t count = bucket->count;

	events->used[digit] &= ~(UINT64_C(1) << value);
	if (!events->used[digit])
		events->digits &= ~(UINT64_C(1) << digit);
	events->last = bucket->all[0].at;
	for (size_t i = 1; i < count; i++)
		if (bucket->all[i].at < events->last)
			events->last = bucket->all[i].at;
	bucket->count = 0;
	for (size_t i = 0; i < count; i++)
		sim_events_put(events, &bucket->all[i]);
}

bool sim_events_take(struct sim_events *events, struct sim_event *event)
{
	if (events->full)
		return false;
	if (events->first == events->now.count) {
		events->first = events->now.count = 0;
		if (!events->digits)
			return false;
		deal(events);
		if (events->full)
			return false;
	}
	*event = events->now.all[events->first++];
	return true;
}

void sim_events_free(struct sim_events *events)
{
	free(events->now.all);
	for (size_t i = 0; i < SIM_DIGITS; i++)
		for (size_t j = 0; j < 1 << SIM_DIGIT_BITS; j++)
			free(events->later[i][j].all);
	memset(events, 0, sizeof(*events));
}
