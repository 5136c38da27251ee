/* SPDX-License-Identifier: MIT */
/* The state table. */
#include "conn/states.h"

const struct move moves[PHASE_COUNT][ON_COUNT] = {
#define MOVE(phase, event, next, outcome)                                                          \
	[PHASE_##phase][ON_##event] = { PHASE_##next, MOVE_##outcome },
#include "conn/states.def"
};
