/* SPDX-License-Identifier: MIT */
/* Which code of the program made a call, for site= of a record. Opt-in: [log] trace. */
#ifndef RETRYBUDGET_REPORT_CALLSITE_H
#define RETRYBUDGET_REPORT_CALLSITE_H

#include <stddef.h>

/* Built without call sites. The general header may be found where the machine's own is missing. */
#if defined(WITHOUT_LIBUNWIND) || !__has_include(<libunwind.h>) || \
    (defined(__i386__) && !__has_include(<libunwind-x86.h>))
#define CALLSITE_NONE
#endif

#define CALLSITE_FRAMES 16

/* Opens libunwind, if it is there, and walks the stack once so that everything it needs is made
 * now. Call from the constructor, and only if traces are wanted: it allocates. */
void callsite_prepare(void);

/*
 * Writes the caller's frames, innermost first and without our own, as "module+0xoffset,…"; at most
 * `frames` (1..CALLSITE_FRAMES) and as many as fit. `addr2line -e module 0xoffset` names the line
 * of each call. Returns the length; 0 and an empty text when anything is not as it should be.
 *
 * Opens no descriptor and keeps none. Needs about 12 KiB of stack: it does nothing in threads and
 * on signal stacks that have less left. A coroutine on a small stack of its own cannot be told.
 * Makes process_vm_readv() calls: a seccomp sandbox that kills for those must keep trace = 0.
 */
size_t callsite_format(char *out, size_t size, int frames);

#endif
