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

#define SIM_WHO_BITS 27
#define SIM_WHO_MOST ((UINT32_C(1) << SIM_WHO_BITS) - 1)

/* Of 16 bytes: moving events is what most of a simulation's time goes to. */
struct sim_event {
	int64_t at;
	uint32_t what : 5, who : SIM_WHO_BITS;
	uint32_t serial;
};

_Static_assert(sizeof(struct sim_event) == 16, "moved as one");

struct sim_bucket {
	struct sim_event *all;
	size_t count, room;
};

#define SIM_DIGIT_BITS 4 /* of a time, seen as a number of such digits */
#define SIM_DIGITS     ((64 + SIM_DIGIT_BITS - 1) / SIM_DIGIT_BITS)

/* All-zero: empty. */
struct sim_events {
	struct sim_bucket now; /* those of the time `last` */
	/* By the highest digit in which their time differs from it, and by what stands there. */
	struct sim_bucket later[SIM_DIGITS][1 << SIM_DIGIT_BITS];
	uint64_t used[SIM_DIGITS]; /* a bit for each of these that is not empty */
	uint64_t digits;           /* a bit for each of `used` that is not 0 */
	int64_t last;              /* of the event that was taken last */
	size_t first;              /* of `now` that is still there */
	bool full;                 /* there was no memory: the run is void */
};

/* at: not before the event that was taken last. */
void sim_events_put(struct sim_events *events, const struct sim_event *event);

/* False: nothing is left, or there was no memory for something. */
bool sim_events_take(struct sim_events *events, struct sim_event *event);

void sim_events_free(struct sim_events *events);

#endif
