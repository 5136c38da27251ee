/* SPDX-License-Identifier: MIT */
/*
 * dlopen with RTLD_DEEPBIND gives a library its own dependencies before ours, and the calls of
 * PHP's extensions go past us. With deepbind = strip the flag is taken out.
 *
 * dlopen reads its caller from the return address: $ORIGIN, RUNPATH and the namespace are the
 * caller's (HAZARDS 55). So the last call here must be a jump, whatever the compiler was told of
 * optimising; tests/probe/test_load.c looks at what it makes of this file.
 */
#include "hook/load.h"

#include "hook/hook.h"

#ifdef RTLD_DEEPBIND

#ifdef __has_attribute
#if __has_attribute(musttail)
#define JUMP __attribute__((musttail)) return
#endif
#endif
#ifndef JUMP
#define JUMP             return
#define ALWAYS_OPTIMISED __attribute__((optimize("O2", "optimize-sibling-calls")))
#else
#define ALWAYS_OPTIMISED
#endif

static int kept = ~0;
static void (*first)(void);

void load_strip_deepbind(void)
{
	kept = ~RTLD_DEEPBIND;
}

void load_call_first(void (*call)(void))
{
	first = call;
}

ALWAYS_OPTIMISED void *dlopen(const char *file, int flags)
{
	void *(*next)(const char *file, int flags) = real_dlopen();

	if (first)
		first();
	JUMP next(file, flags & kept);
}

#endif
