/* SPDX-License-Identifier: MIT */
/* Refusing without a wait. Inside this room only; async-signal-safe, errno is kept unless it says
 * what the program is told. */
#ifndef RETRYBUDGET_PACE_REFUSE_H
#define RETRYBUDGET_PACE_REFUSE_H

#include "conn/attempt.h"

/* Refuses a call that must not wait, the way a kernel does: later. */
bool refuse_later(struct attempt *try, int64_t now);

#endif
