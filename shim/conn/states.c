/* SPDX-License-Identifier: MIT */
/* The state table. */
#include "conn/states.h"

const struct move moves[SOCKET_COUNT][ON_COUNT] = {
#define MOVE(state, event, next, outcome)                                                          \
	[SOCKET_##state][ON_##event] = { SOCKET_##next, MOVE_##outcome },
#include "conn/states.def"
};
