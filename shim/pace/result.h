/* SPDX-License-Identifier: MIT */
/*
 * The end of a verdict: counted, written down, and told to the program through try->told. Inside
 * this room only. waited: ns that the attempt has been held. Async-signal-safe.
 */
#ifndef RETRYBUDGET_PACE_RESULT_H
#define RETRYBUDGET_PACE_RESULT_H

#include "conn/attempt.h"
#include "region/decisions.h"
#include "region/state.h"
#include "report/record.h"
#include "report/report.h"

/* Counts for the destination and for all together. */
#define TALLY(try, counter)                                                                        \
	(count(&(try)->trial.destination->tally.counter), count(&shim_tally->counter))

/* Says that the attempt is throttled, unless that was said within the interval. err: what the
 * program is told, or will be when its throttled connect ends; an EAI_ code of a lookup. */
void result_throttled(const struct attempt *try, int err, int64_t now);

/* Writes a record of the attempt. err: what the program is told, or will be when its throttled
 * connect ends; an EAI_ code of a lookup. */
void result_say(const struct attempt *try, enum event event, int err, int64_t waited, int64_t now);

/* Keeps the verdict for `retrybudget explain`. */
void result_keep(const struct attempt *try, enum decision_verdict verdict, int64_t waited,
                 int64_t now);

/* The error that the program has already proved it can handle (shim/VERDICT.md,
 * Carrying out a verdict). */
int result_errno(const struct attempt *try);

/* Where what no record has told yet is counted: the mode observe has sums of its own. */
struct untold *result_untold(const struct attempt *try);

/* Counts a hold of this call, ns, whatever comes of it. */
void result_held(const struct attempt *try, int64_t length);

/* It goes. Always true. */
bool result_admitted(struct attempt *try, enum verdict verdict, int64_t waited, int64_t now);

/* It is throttled; the program is told err, now or later. True if it goes all the same, because the
 * file asks for no more than a record. */
bool result_refused(struct attempt *try, int err, int64_t waited, int64_t now);

/* The same at once, with the last real answer, which the program is known to stand. A datagram is
 * told nothing; a request on a kept connection by the end of that connection, or by ECONNRESET. */
bool result_refused_now(struct attempt *try, int64_t waited, int64_t now);

/* It has ended before its call was made: by a signal or SO_SNDTIMEO, as any send may, or because
 * its socket is gone. The program is told err, and may try again. Always false. */
bool result_unsent(struct attempt *try, int err);

#endif
