/* SPDX-License-Identifier: MIT */
/*
 * Waiting as a blocking connect waits, without a descriptor, a signal or a lock.
 */
#ifndef RETRYBUDGET_PACE_WAIT_H
#define RETRYBUDGET_PACE_WAIT_H

#include "budget/budget.h"

/* ns between two looks at whether we were cancelled, or the destination came back. */
#define WAIT_SLICE (291 * NS_PER_MS)

enum wait_end {
	WAIT_OVER,
	WAIT_INTERRUPTED, /* a handler of the program's ran */
	WAIT_RELEASED,    /* the destination came back: the streak ended while we waited */
	WAIT_STEERED,     /* an operator has asked for something, perhaps for no waits */
	WAIT_IMPOSSIBLE,  /* a sandbox allows no call that waits */
};

/* True if every handler that can have ended a call of this thread wants its calls restarted: then a
 * call that our own bound made one to be ended is to be made again. Where they differ it cannot be
 * told which of them ran: false. Async-signal-safe. */
bool wait_restarts(void);

/* Waits until deadline (ns, CLOCK_MONOTONIC), or until the budget's streak has ended and its
 * breaker is closed (NULL: not for that), or an operator asks for something. A cancellation point.
 * errno is left alone. */
enum wait_end wait_until(int64_t deadline, const struct budget *budget);

#endif
