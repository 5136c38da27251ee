/* SPDX-License-Identifier: MIT */
/* The two ways to carry a verdict out, and what both need. Inside this room only; for all of it:
 * async-signal-safe, errno is kept unless it says what the host is told. */
#ifndef RETRYBUDGET_PACE_VERDICT_H
#define RETRYBUDGET_PACE_VERDICT_H

#include "track/attempt.h"

/* The socket's own bound on a blocking connect (SO_SNDTIMEO), in ns; INT64_MAX if it has none. */
int64_t wait_bound_of(int fd);

/* Carries the verdict out on a call that blocks, or on one that must not wait. cost: of the retry,
 * in mt. True: it goes. False: try->told says what the host is told. */
bool pace_blocking(struct attempt *try, int64_t cost);
bool pace_nonblocking(struct attempt *try, int64_t cost);

#endif
