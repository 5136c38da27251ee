/* SPDX-License-Identifier: MIT */
/*
 * Judging an attempt that has begun (conn/attempt.h): what is known of it is put together here, and
 * dest/rules.c says what that makes of it. Async-signal-safe.
 */
#ifndef RETRYBUDGET_CONN_JUDGING_H
#define RETRYBUDGET_CONN_JUDGING_H

#include "conn/attempt.h"

/* New work or a repeat? Counts the attempt, and writes it down where that is asked for. hit: what
 * is known of the name of its address. */
void attempt_judge(struct attempt *try, const struct name_hit *hit);

/* True if what it tries may be other work than the request that failed: a server that asks for a
 * pause (Retry-After) means that one, and stops nothing else. So it is after a first failure for as
 * long as the program has not been seen to try again, and of one that goes on to other work; not at
 * a destination that serves nothing else. */
bool judging_may_be_other(const struct attempt *try);

/* The second half of that, for one that is judged already: trial.retry. */
void attempt_count(struct attempt *try);

#endif
