/* SPDX-License-Identifier: MIT */
/* Whether this thread lives under a filter of system calls (seccomp), which may end the program at
 * one that it does not know, or has locked memory, of which a mapping may take what the program
 * itself will want. */
#ifndef RETRYBUDGET_SYS_CONFINED_H
#define RETRYBUDGET_SYS_CONFINED_H

#include <stdbool.h>

/* True if it is so, or if nobody can say: to be asked before a call that not every program makes,
 * and before a large mapping, where that is not in the constructor. It asks by the calls that read
 * a thread's counts (sys/thread_io.h), not by prctl(), which few lists have. A filter is never
 * taken off again, so that from the first on nothing more is asked. Async-signal-safe; errno is
 * left alone. */
bool confined_perhaps(void);

/* The program is about to put a filter on itself, or says what it must say before it may: from now
 * on confined_by_itself(). Async-signal-safe, no system call. */
void confined_begin(void);

/* True if it did. A filter that was there when the program was executed knows what the loader
 * needs, openat among it; one that the program puts on itself may know nothing of what we do
 * beside it, not even a read of /proc that tells whether there is one. */
bool confined_by_itself(void);

#endif
