/* SPDX-License-Identifier: MIT */
/*
 * Whether a call that must not block may wait all the same: because nobody would notice.
 */
#ifndef RETRYBUDGET_PACE_IDLE_H
#define RETRYBUDGET_PACE_IDLE_H

#include <stdbool.h>

/* True if this process has nothing to do but the connect that it is about to make on fd: it listens
 * for nobody, serves no connection, and has none of its own, nor one under way. False as well where
 * that cannot be told: its sandbox may forbid to ask, and a process with descriptors beyond those
 * that are looked at is not one that has just started. Makes up to three system calls for each
 * descriptor. Thread-safe, async-signal-safe; errno is left alone. */
bool idle_but_for(int fd);

#endif
