/* SPDX-License-Identifier: MIT */
/*
 * The next function of each name in hooks.def after ours: libc's, or another preload's.
 * `real.connect(fd, address, len)` works from the first instruction of the process: until the
 * constructor has resolved the table each entry is a stand-in that finds its way (TRAPS A1.4).
 */
#ifndef RETRYBUDGET_HOOK_REAL_H
#define RETRYBUDGET_HOOK_REAL_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

struct real_calls {
#define HOOK(type, name, parameters, arguments, raw, purpose) type(*name) parameters;
#define USED(type, name, parameters, arguments, raw)          type(*name) parameters;
#include "hook/hooks.def"
};

extern struct real_calls real;

/* Resolves the whole table through RTLD_NEXT. False if a call is missing; that entry keeps its
 * stand-in. Call from the constructor. */
bool real_resolve(void);

/* CLOCK_MONOTONIC in ns. */
static inline int64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
