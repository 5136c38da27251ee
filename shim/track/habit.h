/* SPDX-License-Identifier: MIT */
/*
 * What the program does after a failure, learned from its requests. A connect does not say what it
 * is for: after a failed one, the next may be the same request again or the next piece of work. The
 * first bytes that go out on it tell (track/request.h), too late for this verdict but in time for
 * the next ones: a program that has been seen to go on to other work after its n-th try of one
 * request will do so again, and that attempt is a first try.
 *
 * Kept per destination in shared memory; hints, updated by compare-and-swap. Where no request is
 * ever seen (refused connects, TLS) nothing is learned, and an attempt that follows a failure is a
 * retry. All functions: thread-safe, async-signal-safe.
 */
#ifndef RETRYBUDGET_TRACK_HABIT_H
#define RETRYBUDGET_TRACK_HABIT_H

#include "report/region.h"

/* After `run` (>= 1) failed tries of one request the program tried it again. */
void habit_tried_again(struct destination *destination, uint32_t run);

/* After `run` failed tries of one request the program went on to another. */
void habit_went_on(struct destination *destination, uint32_t run);

/* True if an attempt that follows `run` failed tries of one request is expected to be new work.
 * Never once nothing but failures has been met for long: then it is a storm, whatever it is for. */
bool habit_goes_on(const struct destination *destination, uint32_t run);

/* A thread tried again what it, or what another thread, had tried before. */
void habit_answered(struct destination *destination, bool by_another);

/* True if threads answer each other's failures: work that failed goes back to a queue. */
bool habit_is_shared(const struct destination *destination);

#endif
