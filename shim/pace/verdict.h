/* SPDX-License-Identifier: MIT */
/*
 * Whether an attempt may go. Inside this room only. Times in ns, cost in millitokens.
 * Async-signal-safe.
 */
#ifndef RETRYBUDGET_PACE_VERDICT_H
#define RETRYBUDGET_PACE_VERDICT_H

#include "conn/attempt.h"

/* Asks breaker and budget for leave to go now, and pays. */
enum verdict verdict_take(struct attempt *try, int64_t cost, int64_t now);

#endif
