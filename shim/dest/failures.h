/* SPDX-License-Identifier: MIT */
/*
 * The unanswered failures of one destination: what an attempt is held against to tell a retry from
 * a first try. Each failure is one 64-bit word in shared memory, so that claiming it is one
 * compare-and-swap: a failure is answered by one retry at most, and a killed process leaves nothing
 * half done.
 *
 * The rule: a thread answers its own failures; failures whose outcome came back
 * on another thread than the one that connected, failures of threads that are gone, and those that
 * found no room here belong to nobody, and whoever tries next answers them. Where the program has
 * shown that its threads answer each other's failures (dest/profile.h) all belong to nobody.
 *
 * With each failure goes the fingerprint of the request that failed (dest/fingerprint.h), so that
 * an attempt can be held against it once its own request is seen.
 *
 * All functions: thread-safe, async-signal-safe.
 */
#ifndef RETRYBUDGET_DEST_FAILURES_H
#define RETRYBUDGET_DEST_FAILURES_H

#include "dest/failure_word.h"
#include "region/region.h"

/* Adds a failure. */
void failures_add(struct destination *destination, const struct unanswered *failure);

/* Claims the failure that an attempt of this thread answers: of those that the program is expected
 * to answer now (dest/profile.h) its own before one of nobody, and the newest; where it is known
 * how long the program waits before it tries again, the oldest. Those older than horizon ns are
 * dropped on the way. asks: the kernel may be asked, of a few threads, whether they have gone, and
 * left their failures to anybody; a thread with failures of its own there need not do that, nor a
 * worker that has tried there before: a newcomer takes up what was left. False: there is none, or
 * the attempt is taken for new work, which claimed->passed tells; claimed->early, that it comes
 * sooner than the program tries again. */
bool failures_claim(struct destination *destination, int32_t thread, bool asks, int64_t horizon,
                    int64_t now, struct unanswered *claimed);

/* True if whose failure it is has gone, as far as may be asked. */
bool failures_is_left(const struct unanswered *failure);

/* The destination is back: of all failures only their own requests still answer them. */
void failures_forgive(struct destination *destination);

/* The request was answered: whoever makes it again does so anew, and no failure of it, of any
 * thread, is left to answer. */
void failures_answered(struct destination *destination, uint32_t fingerprint, int64_t now);

/* True if the request was answered within the last second: it is one that programs make again and
 * again, as pollers do, and one that failed meanwhile need not be what is made now. A hint: of a
 * few requests at a time. */
bool failures_is_answered(struct destination *destination, uint32_t fingerprint, int64_t now);

/* True if the request of one of them is known. */
bool failures_are_known(const struct destination *destination);

/* Claims a failure of this request (fingerprint, not 0): of this thread if there is one, else of
 * any. */
bool failures_claim_request(struct destination *destination, uint32_t fingerprint, int32_t thread,
                            int64_t horizon, int64_t now, struct unanswered *claimed);

#endif
