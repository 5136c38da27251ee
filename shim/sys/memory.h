/* SPDX-License-Identifier: MIT */
/* Whether the program's memory can be read, where a read of our own would be a crash in place of
 * the EFAULT that the program would get from the kernel. */
#ifndef RETRYBUDGET_SYS_MEMORY_H
#define RETRYBUDGET_SYS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEMORY_MOST 4096 /* bytes: they lie in two pages at most, which their ends stand for */

/* False for the pointers that programs and test suites pass by mistake, NULL and small negative
 * numbers. Costs nothing, and says no more. */
static inline bool memory_may_be_there(const void *at)
{
	return (uintptr_t)at >= 4096 && (uintptr_t)at <= UINTPTR_MAX - 4096;
}

/* True if the kernel can read n bytes at `at`; of more than MEMORY_MOST the first so many are asked
 * for. False for n = 0. A system call, two where they lie in two pages; errno is left alone.
 * Async-signal-safe. */
bool memory_is_there(const void *at, size_t n);

#endif
