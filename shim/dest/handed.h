/* SPDX-License-Identifier: MIT */
/*
 * Threads that are handed requests which another one reads: the workers of a pool behind a thread
 * that accepts, or of an event loop. Such a thread reads no request itself; what tells is that time
 * after time it tries soon after one, each time another one. What loops for itself meets one
 * by chance. Of a process: a hint, that others may overwrite. Times in ns. Thread-safe,
 * async-signal-safe.
 */
#ifndef RETRYBUDGET_DEST_HANDED_H
#define RETRYBUDGET_DEST_HANDED_H

#include <stdbool.h>
#include <stdint.h>

/* Some thread has read a request. */
void handed_read(int64_t now);

/* This thread makes a try at a destination that fails. requests: that all threads read in a second.
 */
void handed_note_try(int64_t requests, int64_t now);

/* True if it is handed requests. */
bool handed_is(void);

/* The arithmetic: what is known of a thread once it has made a try at `now`, the last request
 * having been read at `read`. known: what was, 0 = nothing. */
uint64_t handed_after(uint64_t known, int32_t thread, int64_t read, int64_t requests, int64_t now);

/* True if what is known is enough, and of that thread. */
bool handed_is_known(uint64_t known, int32_t thread);

#endif
