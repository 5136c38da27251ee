/* SPDX-License-Identifier: MIT */
/*
 * Whom the library would hold, or park: which thread spins (dest/tries.h), which is far ahead of
 * the time at which real failures would have let it come back (pace/ahead.h), and where refusals
 * are a storm (pace/storm.h). Inside the simulator only; plain data, of one simulation.
 */
#ifndef RETRYBUDGET_TOOL_SIM_HOLD_H
#define RETRYBUDGET_TOOL_SIM_HOLD_H

#include "sys/cell.h"

#include <stdint.h>

/* A thread that tries again. All-zero: it has not been refused. Times in ns. */
struct sim_hold {
	int64_t row_at;  /* of the last refusal, or of the end of its hold, which may be to come */
	int64_t back_at; /* when real failures would have let it come back */
	int16_t row;     /* refusals with hardly a pause in between */
	bool spun;       /* the last of them looked like a spin */
};

/* What a storm is told by, of a process, and of those who share a budget: second counts
 * (sys/second_count.h). All-zero: none. */
struct sim_storm {
	cell64 refused, parked, served[2];
};

/* A thread that is refused. */
struct sim_refused {
	struct sim_hold *mine;
	int64_t failing; /* ns that a real failure takes there; 0: none is known */
	bool serves;     /* somebody waits for what it was asked for */
};

/* A try was refused at `now`: for how long it is held, at most `hold`; 0: not at all. Times in ns.
 */
int64_t sim_hold_refused(const struct sim_refused *refused, int64_t hold, int64_t now);

/* A hold is over. */
void sim_hold_over(struct sim_hold *mine, int64_t now);

/* The process was asked for something at `now`. */
void sim_hold_asked(struct sim_storm *process, struct sim_storm *all, int64_t now);

/* A connect that does not block was refused at `now`. True: it is parked, where that may be; else
 * it is redirected. */
bool sim_hold_parks(const struct sim_refused *refused, struct sim_storm *process,
                    struct sim_storm *all, bool may, int64_t now);

#endif
