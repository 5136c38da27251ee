/* SPDX-License-Identifier: MIT */
/*
 * The next function of each name in hooks.def after ours: libc's, or another preload's.
 * `real.connect(fd, address, len)` works from the first instruction of the process: until the
 * constructor has resolved the table each entry is a stand-in that finds its way (HAZARDS 4).
 */
#ifndef RETRYBUDGET_SYS_REAL_H
#define RETRYBUDGET_SYS_REAL_H

#include "sys/arithmetic.h"
#include "sys/cell.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* What the list of hooks asks of the libc that we are built for. */
#ifdef __GLIBC__
#define GLIBC_SINCE(major, minor) __GLIBC_PREREQ(major, minor)
#define MMSG_FLAGS                int
#else
#define GLIBC_SINCE(major, minor) 0
#define MMSG_FLAGS                unsigned int /* musl */
#endif

/* Where time_t has 32 bits in libc's own names, programs with a time_t of 64 (_TIME_BITS=64) call
 * by others. */
#if GLIBC_SINCE(2, 34) && __TIMESIZE == 32
#define TIME64_NAMES 1
#else
#define TIME64_NAMES 0
#endif

struct __res_state;

struct real_calls {
#define HOOK(type, name, parameters, arguments, raw, purpose) type(*name) parameters;
#define USED(type, name, parameters, arguments, raw)          type(*name) parameters;
#include "sys/hooks.def"
};

extern HIDDEN struct real_calls real;

/* Resolves the whole table through RTLD_NEXT. False if a call is missing that is not optional; a
 * missing one's entry keeps its stand-in. Call from the constructor. */
bool real_resolve(void);

#ifdef RTLD_DEEPBIND
/* The next dlopen itself, where it can be had: not its stand-in, which would be taken for the
 * caller. */
void *(*real_dlopen(void))(const char *file, int flags);
#endif

/*
 * libc's own calls, past whatever preload stands before them.
 * libfaketime 0.9.10 shifts, speeds up and stops CLOCK_MONOTONIC too: a deadline told by its clock
 * lies days off for the kernel, and a budget on it never fills again.
 * proxychains and torsocks take a connect of ours to this machine itself, which is to end nowhere,
 * to their proxy.
 */
struct libc_calls {
	int (*clock_gettime)(clockid_t clock, struct timespec *now);
	int (*connect)(int fd, const struct sockaddr *address, socklen_t len);
};

extern HIDDEN struct libc_calls libc_own;

/* CLOCK_MONOTONIC in ns. */
static inline int64_t monotonic(void)
{
	struct timespec t;

	libc_own.clock_gettime(CLOCK_MONOTONIC, &t);
	return ns_of(t);
}

/* CLOCK_BOOTTIME in ns. */
static inline int64_t boottime(void)
{
	struct timespec t;

	libc_own.clock_gettime(CLOCK_BOOTTIME, &t);
	return ns_of(t);
}

/* ns that this machine has slept since boot: what CLOCK_BOOTTIME is ahead of `now`, which
 * monotonic() has just told. Never negative. */
static inline int64_t slept(int64_t now)
{
	return greater(boottime() - now, 0);
}

#endif
