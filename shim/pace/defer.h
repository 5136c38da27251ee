/* SPDX-License-Identifier: MIT */
/*
 * Putting a verdict off. Where requests fail, and not connects, a thread's next connect may be for
 * the one that failed as well as for its other work. One that may not go is then let through all
 * the same, and its request is judged instead (conn/deferred.h): it tells. Async-signal-safe.
 */
#ifndef RETRYBUDGET_PACE_DEFER_H
#define RETRYBUDGET_PACE_DEFER_H

#include "conn/attempt.h"

/* True if the connect that was refused goes, and its request is asked. */
bool defer(struct attempt *try);

#endif
