/* SPDX-License-Identifier: MIT */
/* The state table (states.def) as data: state and event to the next state and the outcome. Pure. */
#ifndef RETRYBUDGET_CONN_STATES_H
#define RETRYBUDGET_CONN_STATES_H

#include "sys/cell.h"

#include <stdint.h>

enum socket_state {
#define STATE(name, meaning) SOCKET_##name,
#include "conn/states.def"
	SOCKET_COUNT,
};

enum socket_event {
#define ON(name, meaning) ON_##name,
#include "conn/states.def"
	ON_COUNT,
};

/* Of the attempt that the connection is. */
enum move_outcome {
	MOVE_IMPOSSIBLE, /* this event does not come in this state: nothing happens */
	MOVE_NOTHING,
	MOVE_SUCCESS,
	MOVE_FAILURE,
};

struct move {
	uint8_t next;    /* enum socket_state */
	uint8_t outcome; /* enum move_outcome */
};

extern HIDDEN const struct move moves[SOCKET_COUNT][ON_COUNT];

#endif
