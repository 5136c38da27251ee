/* SPDX-License-Identifier: MIT */
/*
 * Carrying out a verdict (shim/README.md): the only place that waits, parks or refuses.
 */
#ifndef RETRYBUDGET_PACE_PACE_H
#define RETRYBUDGET_PACE_PACE_H

#include "conn/attempt.h"

/* Lets an attempt go now or after a wait (true), or throttles it (false; then try->told says what
 * the host is told). A cancellation point while it waits, holding nothing; siglongjmp out of it
 * loses neither a token nor the knowledge that a failure is unanswered. Async-signal-safe. */
bool pace(struct attempt *try);

#endif
