/* SPDX-License-Identifier: MIT */
/*
 * Whether an attempt may go. Inside this room only. Times in ns, cost in mt. Async-signal-safe.
 */
#ifndef RETRYBUDGET_PACE_TURN_H
#define RETRYBUDGET_PACE_TURN_H

#include "conn/attempt.h"

/* True while the destination has a breaker that is not closed. */
bool turn_is_broken(const struct attempt *try);

/* Asks breaker and budget for leave to go now, and pays. */
enum admission turn_admit(struct attempt *try, int64_t cost, int64_t now);

#endif
