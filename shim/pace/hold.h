/* SPDX-License-Identifier: MIT */
/* Holding what spins. Inside this room only; async-signal-safe, errno is kept unless it says what
 * the program is told. */
#ifndef RETRYBUDGET_PACE_HOLD_H
#define RETRYBUDGET_PACE_HOLD_H

#include "conn/attempt.h"

/* A shorter hold would cost more than it spares. */
#define HOLD_LEAST NS_PER_MS

/* A request that is not answered for so long is none for whose answer anybody waits: a log's inflow
 * is never answered. */
#define HOLD_WAITS_FOR (10 * NS_PER_S)

/* The socket's own bound on a blocking connect (SO_SNDTIMEO), in ns; INT64_MAX if it has none. */
int64_t wait_bound_of(int fd);

/* For how long a call of this thread that is refused at `now` may be slowed down at most, ns. What
 * spins, or (where the destination's refusals rage) makes a process or a thread for each try: for
 * as long as the policy says. What may do work between its tries: no longer than a real failure
 * there takes, so that it is no later than without us, and no hotter. 0: not at all. To be asked
 * once for each refusal. */
int64_t hold_most(const struct attempt *try, bool rages, int64_t now);

enum held {
	HELD_GOES,  /* it may go after all; the program's bounds are kept */
	HELD_ENDED, /* try->told says what the program is told */
	HELD_OVER,  /* refused still; *now says when */
};

/* Holds a refused call that blocks for the policy's `hold` or for `most` (ns, of hold_most()),
 * whichever is less, and asks again. A cancellation point, and siglongjmp may leave it: nothing is
 * left behind. */
enum held hold(struct attempt *try, int64_t cost, int64_t most, int64_t *now);

#endif
