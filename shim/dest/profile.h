/* SPDX-License-Identifier: MIT */
/*
 * What the program does after a failure, learned from its requests. A connect does not say what it
 * is for: after a failed one, the next may be the same request again or the next piece of work. The
 * first bytes that go out on it tell (dest/fingerprint.h), too late for this verdict but in time
 * for the next ones. A program that has been seen to go on to other work after its n-th try of one
 * request will do so again, and one that lets 30 ms pass before it tries again will not do so after
 * five: what comes then is something else.
 *
 * Kept per destination in shared memory; hints, updated by compare-and-swap. Where no request is
 * ever seen (refused connects, TLS) nothing is learned, and an attempt that follows a failure is a
 * retry. All functions: thread-safe, async-signal-safe.
 */
#ifndef RETRYBUDGET_DEST_PROFILE_H
#define RETRYBUDGET_DEST_PROFILE_H

#include "region/region.h"

/* After `number` (>= 1) failed tries of one request the program tried again. refused: the last of
 * them by us, and not by the destination; a program may try again after the one and not after the
 * other, as one does that repeats a request after a reply but not after an error of its connect. */
void profile_tried_again(struct destination *destination, uint32_t number, bool refused);

/* It let so many ns pass before it did. */
void profile_paused(struct destination *destination, int64_t pause);

/* After `number` failed tries of one request the program went on to another. */
void profile_went_on(struct destination *destination, uint32_t number, bool refused);

/* True if the program is known to go on to other work after `number` failed tries of one request,
 * or after fewer. */
bool profile_goes_on(const struct destination *destination, uint32_t number, bool refused);

/* True if it is known to try again after `number` failed tries of one request. */
bool profile_tries_again(const struct destination *destination, uint32_t number, bool refused);

/* True unless the program is known to wait longer than `age` ns before it tries again. */
bool profile_has_waited(const struct destination *destination, int64_t age);

/* True if it is known how long the program waits before it tries again. */
bool profile_has_pause(const struct destination *destination);

/* A thread tried again what it, or what another thread, had tried before. */
void profile_answered(struct destination *destination, bool by_another);

/* True if threads answer each other's failures: work that failed goes back to a queue. */
bool profile_is_shared(const struct destination *destination);

/* An attempt of this thread (its id) there, which had failed there, was other work. */
void profile_mixed(struct destination *destination, int32_t thread, int64_t now);

/* True if profile_mixed() has told that of this thread since `since` (ns): of several pieces of
 * work at a time, as an event loop has them, nobody can say which a connect is for. A hint: of a
 * few threads. */
bool profile_is_mixed(const struct destination *destination, int32_t thread, int64_t since);

/* A request that repeats none that has failed there was answered, or failed. */
void profile_new_ended(struct destination *destination, bool well);

/* True if nearly all of those are answered: what is tried there again and again fails by itself. */
bool profile_answers_new(const struct destination *destination);

/* A TLS session whose requests are read goes there; and whether one ever did. Its handshakes count
 * as answers, whatever its requests get. */
void profile_carry(struct destination *destination);
bool profile_carries(const struct destination *destination);

/* An attempt after somebody had asked for something, whether that excused it or not, proved to be
 * new work (true), or the request that had failed before (false). now: ns. */
void profile_excused(struct destination *destination, bool rightly, int64_t now);

/* True if that excuse has been wrong more often than not, and within the last second. */
bool profile_has_no_excuse(const struct destination *destination, int64_t now);

#endif
