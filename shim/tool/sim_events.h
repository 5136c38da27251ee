/* SPDX-License-Identifier: MIT */
/*
 * What is still to happen, in the order of its time: a radix heap, for time only goes on. Events of
 * one moment come out in an order that depends on nothing but what was put in before.
 */
#ifndef RETRYBUDGET_TOOL_SIM_EVENTS_H
#define RETRYBUDGET_TOOL_SIM_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_event {
	int64_t at;
	uint32_t what, who, serial;
};

struct sim_bucket {
	struct sim_event *all;
	size_t count, room;
};

/* All-zero: empty. */
struct sim_events {
	struct sim_bucket buckets[65];
	int64_t last;  /* of the event that was taken last */
	size_t first;  /* of bucket 0 that is still there */
	uint64_t used; /* a bit for each bucket but the first that is not empty */
	bool full;     /* there was no memory: the run is void */
};

/* at: not before the event that was taken last. */
void sim_events_put(struct sim_events *events, const struct sim_event *event);

/* False: nothing is left. */
bool sim_events_take(struct sim_events *events, struct sim_event *event);

void sim_events_free(struct sim_events *events);

#endif
