/* SPDX-License-Identifier: MIT */
/* The generator that jitter draws from. Pure, async-signal-safe. */
#ifndef RETRYBUDGET_SYS_RANDOM_H
#define RETRYBUDGET_SYS_RANDOM_H

#include <stdint.h>

/* splitmix64: one step of *state gives 64 good bits. Any seed is valid. */
uint64_t random_next(uint64_t *state);

/* A uniform value in 0..limit (both included); limit < 0 counts as 0. */
int64_t random_upto(uint64_t *state, int64_t limit);

#endif
