/* SPDX-License-Identifier: MIT */
/* What carrying a refusal out takes. Inside this room only; for all of it: async-signal-safe, errno
 * is kept unless it says what the host is told. */
#ifndef RETRYBUDGET_PACE_REFUSE_H
#define RETRYBUDGET_PACE_REFUSE_H

#include "conn/attempt.h"

/* The socket's own bound on a blocking connect (SO_SNDTIMEO), in ns; INT64_MAX if it has none. */
int64_t wait_bound_of(int fd);

enum held {
	HELD_GOES,  /* it may go after all; the host's bounds are kept */
	HELD_ENDED, /* try->told says what the host is told */
	HELD_OVER,  /* refused still; *now says when */
};

/* Holds a refused call that blocks, of a thread that spins, for the policy's `hold`, and asks
 * again. A cancellation point, and siglongjmp may leave it: nothing is left behind. */
enum held hold(struct attempt *try, int64_t cost, int64_t *now);

/* Refuses a call that must not wait, the way a kernel does: later. */
bool refuse_later(struct attempt *try, int64_t now);

/* A refusal at now: true if this destination is refused so often that who does nothing but try is
 * to be slowed down, be it by many threads or processes that make one try each. */
bool storm_rages(struct destination *destination, int64_t now);

/* True if one more connect to it may be parked instead of redirected. */
bool storm_parks(struct destination *destination, int64_t now);

#endif
