/* SPDX-License-Identifier: MIT */
/*
 * Who is refused at once comes back sooner than it would have after a real failure, and does the
 * rest of its loop more often: a consumer that takes a message, calls a service that is dead for
 * 300 ms, and gives the message back asks its broker three times a second without us, and ten
 * thousand times if each call is refused at once. So each refusal moves a clock of the thread on by
 * as much as a real failure takes, and a thread whose clock is far ahead of the time is slowed
 * down. Inside this room only; async-signal-safe.
 */
#ifndef RETRYBUDGET_PACE_AHEAD_H
#define RETRYBUDGET_PACE_AHEAD_H

#include "conn/attempt.h"
#include "conn/park_options.h"

/* How far a thread may be ahead, ns: a few refusals in a row save time, and harm nobody. */
#define AHEAD_LEEWAY (2 * NS_PER_S)

/* From where on one more connect of its may be parked, and the most, ns: what is beyond is
 * forgiven. */
#define AHEAD_AT_PARK (AHEAD_LEEWAY + PARK_LEAST)
#define AHEAD_MOST    (AHEAD_AT_PARK + PARK_LEAST)

/* How far a thread that was `ahead` is after one more refusal, where a real failure takes
 * `failing`; INT64_MAX: nobody knows. */
static inline int64_t ahead_after(int64_t ahead, int64_t failing)
{
	return failing == INT64_MAX ? ahead
	                            : lesser(ahead + lesser(failing, AHEAD_MOST), AHEAD_MOST);
}

/* A refusal of this thread at `now`, ns, where a real failure takes `failing` (dest/answer_time.h).
 */
void ahead_refused(int64_t failing, int64_t now);

/* How far this thread is ahead at `now` of the time at which it would be back without us, ns. */
int64_t ahead_at(int64_t now);

/* For how long its call that blocks may be slowed down, ns: it is no later than without us. 0: not
 * at all. */
int64_t ahead_hold(const struct attempt *try, int64_t now);

/* The same of a connect that does not block: true if it may be parked, which takes a second. Never
 * of a thread that serves, or that has been seen not to wait for its connects: real failures would
 * not have held up what it does meanwhile. To be asked once for each refusal. */
bool ahead_parks(const struct attempt *try, int64_t now);

/* It was parked for that, and the rest of what this thread is ahead is forgiven. */
void ahead_parked(const struct attempt *try, int64_t now);

#endif
