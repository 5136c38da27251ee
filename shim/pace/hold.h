/* SPDX-License-Identifier: MIT */
/* Holding what spins. Inside this room only; async-signal-safe, errno is kept unless it says what
 * the program is told. */
#ifndef RETRYBUDGET_PACE_HOLD_H
#define RETRYBUDGET_PACE_HOLD_H

#include "conn/attempt.h"

/* The socket's own bound on a blocking connect (SO_SNDTIMEO), in ns; INT64_MAX if it has none. */
int64_t wait_bound_of(int fd);

enum held {
	HELD_GOES,  /* it may go after all; the program's bounds are kept */
	HELD_ENDED, /* try->told says what the program is told */
	HELD_OVER,  /* refused still; *now says when */
};

/* Holds a refused call that blocks, of a thread that spins, for the policy's `hold`, and asks
 * again. A cancellation point, and siglongjmp may leave it: nothing is left behind. */
enum held hold(struct attempt *try, int64_t cost, int64_t *now);

#endif
