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

/* The second half of attempt_judge(), for an attempt of which trial.retry and the rule are known
 * already: counts it, and writes it down. */
void attempt_count(struct attempt *try);

/* True if what it tries may be other work than the request that failed: a server that asks for a
 * pause (Retry-After) means that request, and stops nothing else. Other work may follow a first
 * failure for as long as the program has not been seen to try again after one, and any failure of a
 * program that goes on to other work; never at a destination that serves next to nothing. */
bool judging_may_be_other(const struct attempt *try);

#endif
