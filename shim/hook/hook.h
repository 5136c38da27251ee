/* SPDX-License-Identifier: MIT */
/* What every file of hooks needs: the real calls, and how to be exported under a libc name. */
#ifndef RETRYBUDGET_HOOK_HOOK_H
#define RETRYBUDGET_HOOK_HOOK_H

#include "sys/likely.h"
#include "sys/real.h"

#if defined(_FILE_OFFSET_BITS) && _FILE_OFFSET_BITS != 32 || defined(_TIME_BITS)
#error "build the shim without 64-bit off_t or time_t: they would rename the hooks (HAZARDS 61)"
#endif

/* `used` because nothing inside the library calls a hook by its name. */
#define EXPORT __attribute__((visibility("default"), used))

#define HOOK(type, name, parameters, arguments, raw, purpose) EXPORT type name parameters;
#define VARIADIC(type, name, parameters, arguments, raw, purpose)                                  \
	EXPORT type name##_hook parameters __asm__(#name);
#include "sys/hooks.def"

#endif
