/* SPDX-License-Identifier: MIT */
/*
 * Waiting as a blocking connect waits, without a descriptor, a signal or a lock.
 */
#ifndef RETRYBUDGET_PACE_WAIT_H
#define RETRYBUDGET_PACE_WAIT_H

#include "budget/budget.h"

enum wait_manner {
	WAIT_AS_CONNECT, /* a handler ends it unless it was installed with SA_RESTART */
	WAIT_AS_TIMED,   /* any handler ends it: a connect with SO_SNDTIMEO set */
	WAIT_AS_LOOKUP,  /* no handler ends it */
};

enum wait_end {
	WAIT_OVER,
	WAIT_INTERRUPTED,
	WAIT_RELEASED, /* the destination came back: the streak ended while we waited */
};

/* Waits until deadline (ns, CLOCK_MONOTONIC), or until the budget's streak ends (NULL: only the
 * deadline ends it). A cancellation
 * point. errno is left alone. */
enum wait_end wait_until(int64_t deadline, enum wait_manner manner, const struct budget *budget);

#endif
