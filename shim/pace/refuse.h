/* SPDX-License-Identifier: MIT */
/* Refusing calls that must not wait. Inside this room only; async-signal-safe, errno is kept unless
 * it says what the program is told. */
#ifndef RETRYBUDGET_PACE_REFUSE_H
#define RETRYBUDGET_PACE_REFUSE_H

#include "conn/attempt.h"

/* Refuses a call that must not wait at `now` (ns), the way a kernel does: a connect of TCP is told
 * later, anything else at once, with the last real error. On a unix socket a thread that does
 * nothing but try is slowed down by 20 ms first. True: it goes all the same, because the file asks
 * for no more than a record. */
bool refuse_later(struct attempt *try, int64_t now);

#endif
