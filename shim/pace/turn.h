/* SPDX-License-Identifier: MIT */
/*
 * When an attempt may go. Inside this room only. Times in ns, cost in mt. Async-signal-safe.
 */
#ifndef RETRYBUDGET_PACE_TURN_H
#define RETRYBUDGET_PACE_TURN_H

#include "track/attempt.h"

/* True while the destination has a breaker that is not closed. */
bool turn_is_broken(const struct attempt *try);

/* From now until the breaker may let somebody by. */
int64_t turn_of_breaker(const struct attempt *try, int64_t now);

/* From its beginning until a retry is to go; INT64_MAX: not on this call. */
int64_t turn_of_retry(const struct attempt *try, int64_t cost);

/* Asks breaker and budget for leave to go now, and pays. */
enum admission turn_admit(struct attempt *try, int64_t cost, int64_t now);

/* For how long the streak may still be held back (`deadline`). */
int64_t turn_hold_left(const struct attempt *try);

/* It is held back from one moment to another. */
void turn_hold(const struct attempt *try, int64_t from, int64_t to);

#endif
