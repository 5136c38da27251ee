/* SPDX-License-Identifier: MIT */
/*
 * reconnect_spread: when many connections were lost at once, the connects that replace them wait,
 * or are parked, for a random time each. They are first tries, and need no token. start_spread: the
 * first connects of processes, when many start at once, wait so; none is parked, which would fail
 * it (pace/idle.h).
 */
#ifndef RETRYBUDGET_PACE_RECONNECT_H
#define RETRYBUDGET_PACE_RECONNECT_H

#include "conn/attempt.h"

enum reconnect {
	RECONNECT_GOES,   /* now, perhaps after a wait; the file may have changed meanwhile */
	RECONNECT_ENDED,  /* by a handler */
	RECONNECT_GONE,   /* another thread has closed the socket meanwhile */
	RECONNECT_PARKED, /* told is EINPROGRESS */
};

/* Of a first try. blocks: its socket's calls may wait. bound: ns that the program lets a connect
 * take, INT64_MAX: as long as it likes. A cancellation point; siglongjmp out of it leaves nothing
 * behind. */
enum reconnect reconnect(struct attempt *try, bool blocks, int64_t bound);

#endif
