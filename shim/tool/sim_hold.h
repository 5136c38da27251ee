/* SPDX-License-Identifier: MIT */
/*
 * Whom the library would hold: which thread spins (dest/tries.h), and which is far ahead of the
 * time at which real failures would have let it come back (pace/ahead.h). Inside the simulator
 * only; plain data, of one simulation.
 */
#ifndef RETRYBUDGET_TOOL_SIM_HOLD_H
#define RETRYBUDGET_TOOL_SIM_HOLD_H

#include <stdint.h>

/* A thread that tries again. All-zero: it has not been refused. */
struct sim_hold {
	int64_t row_at;  /* ns, of the last refusal, or of the end of its hold */
	int64_t back_at; /* ns, when real failures would have let it come back */
	int64_t row;     /* refusals with hardly a pause in between */
};

/* A try was refused at `now`: for how long it is held, at most `hold`; 0: not at all. failing: what
 * a real failure takes there, 0 = none is known. Times in ns. */
int64_t sim_hold_refused(struct sim_hold *mine, int64_t failing, int64_t hold, int64_t now);

/* A hold is over. */
void sim_hold_over(struct sim_hold *mine, int64_t now);

#endif
