/* SPDX-License-Identifier: MIT */
/*
 * The way back of many who were throttled in an outage of one destination, in one process or in all
 * that share the region. Nobody knows what the server can take, so the ramp finds it, by steps of
 * an eighth of a second. The success that ends the outage begins the first, in which one may go.
 * Where what went in a step is answered the next lets twice as many go; where half of it is, as
 * many; where it fails, half as many. When all that went are answered the next goes at once, for a
 * server that has nothing to do can take one.
 *
 * So a server that queues what is too much for it gets about as much as it answers, and hardly more
 * than twice that. Once its answers take half a second longer than they need, it has a queue: then
 * a step lets fewer go than were answered, until the queue is gone, and from then on an eighth more
 * from step to step in the place of twice as many. The ramp ends once nobody has been refused for a
 * second.
 *
 * Two words, decided by compare-and-swap: nobody waits here, and who is refused asks again at its
 * own pace. All functions: thread-safe, async-signal-safe, pure. Times in ns. All-zero is valid, as
 * is any bit pattern; a death at any instruction loses one count.
 */
#ifndef RETRYBUDGET_BUDGET_RAMP_H
#define RETRYBUDGET_BUDGET_RAMP_H

#include "sys/arithmetic.h"
#include "sys/cell.h"

#define RAMP_STEP  (NS_PER_S / 8)
#define RAMP_QUIET 8 /* steps without a refusal, or as long without any attempt: it is over */
#define RAMP_FIRST 1 /* in the first step */
#define RAMP_MOST  INT64_C(2047)

/* All-zero: nobody was throttled. */
struct ramp {
	cell64 step; /* when it began, its number, how many may go in it, how fast answers are */
	cell64
	    counts; /* of that step: who went, was answered, failed; and if anybody was refused */
};

/* Somebody was throttled while the destination did not answer: the success that ends the outage is
 * to begin a ramp. */
void ramp_throttled(struct ramp *ramp, int64_t now);

/* A success has ended a streak. was_outage: it was no single failure among successes. */
void ramp_begin(struct ramp *ramp, bool was_outage, int64_t now);

/* The destination stopped answering during the ramp: the next success begins it anew. */
void ramp_stop(struct ramp *ramp, int64_t now);

/* True if one of those who were throttled may go now; false: not now. */
bool ramp_take(struct ramp *ramp, int64_t now);

/* How one of those ended that the ramp let go. took: ns until the answer. */
void ramp_answered(struct ramp *ramp, int64_t took);
void ramp_failed(struct ramp *ramp);

/* True while the ramp is on, or is to begin anew with the next success. Reads only. */
bool ramp_is_wanted(const struct ramp *ramp, int64_t now);

/* True if nobody was throttled in this streak, nor is on his way back from one. Reads only. */
bool ramp_is_idle(const struct ramp *ramp, int64_t now);

/* The slow half of ramp_is_on(). */
bool ramp_lasts(const struct ramp *ramp, int64_t now);

/* True while the ramp is on. Reads only. */
static inline bool ramp_is_on(const struct ramp *ramp, int64_t now)
{
	return LOAD(ramp->step) != 0 && ramp_lasts(ramp, now);
}

#endif
