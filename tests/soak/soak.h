/* SPDX-License-Identifier: MIT */
/*
 * What the soak's servers and clients share. The protocol: a line comes back as it was sent; after
 * "GET ..." and an empty line comes a small page, and the end.
 */
#ifndef RETRYBUDGET_TESTS_SOAK_H
#define RETRYBUDGET_TESTS_SOAK_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static inline int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void sleep_until(int64_t at)
{
	struct timespec until = { .tv_sec = at / 1000000000, .tv_nsec = at % 1000000000 };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

/* xorshift64: the twin of a program draws the same numbers. */
static inline uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Memory that forked children count in. */
static inline void *shared(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

#define ADD(place, n) __atomic_add_fetch(&(place), n, __ATOMIC_RELAXED)

#endif
