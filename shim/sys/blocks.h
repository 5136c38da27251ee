/* SPDX-License-Identifier: MIT */
/*
 * Tables by descriptor number, mapped in blocks as numbers come into use. One for all numbers would
 * be megabytes, which count under `ulimit -v` and are resident under mlockall(MCL_FUTURE), touched
 * or not, while most programs use the first hundred numbers. Blocks are never given back.
 * Async-signal-safe, lock-free; errno is left alone.
 */
#ifndef RETRYBUDGET_SYS_BLOCKS_H
#define RETRYBUDGET_SYS_BLOCKS_H

#include "sys/cell.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers from here on are in no table. */
#define SOCKETS 65536

#define BLOCK_NUMBERS 512
#define BLOCKS        (SOCKETS / BLOCK_NUMBERS)

/* For each block where the record of number 0 would be, if the table began there: so a record is
 * found by one multiplication. 0: not mapped. */
typedef _Atomic(uintptr_t) block_base;

static inline uintptr_t block_of(const block_base *bases, int fd)
{
	return LOAD(bases[(unsigned int)fd / BLOCK_NUMBERS]);
}

/* Maps the block of a number if that has not been done; new records are all zero. False: it is
 * beyond the tables, or there is no memory for it, which counts as a fault. */
bool block_map(block_base *bases, size_t record, int fd);

#endif
