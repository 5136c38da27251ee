/* SPDX-License-Identifier: MIT */
/*
 * How the calls_* probes print a call: its name (the driver checks that every hook occurs), what
 * is special about it, its result, and errno, which a successful call must not touch.
 */
#ifndef RETRYBUDGET_TESTS_PROBE_CALLS_H
#define RETRYBUDGET_TESTS_PROBE_CALLS_H

#include "probe.h"

/* Wrong arguments are the point here. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#pragma GCC diagnostic ignored "-Wnonnull"

#define UNTOUCHED 4242

/* A pointer that the kernel answers with EFAULT: reading through it kills. */
#define NOWHERE ((void *)8)

#define SAY(name, what, call) (errno = UNTOUCHED, say(name, what, call))

static inline void say(const char *name, const char *what, long long result)
{
	int err = errno;

	printf("%s %s: %lld %s\n", name, what, result,
	       err == UNTOUCHED ? "untouched" : error_name(err));
}

/* The last `size` bytes before memory that nobody may read. */
static inline void *at_the_edge(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory =
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0)
		give_up("edge");
	return memory + page - size;
}

#endif
