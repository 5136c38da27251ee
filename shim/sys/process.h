/* SPDX-License-Identifier: MIT */
/* Which process this is. */
#ifndef RETRYBUDGET_SYS_PROCESS_H
#define RETRYBUDGET_SYS_PROCESS_H

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The number of this process, asked of the kernel: getpid() may be another preload's, which must
 * not be entered before its constructor has run (libfaketime then opens its shared memory twice).
 * Async-signal-safe. */
static inline int32_t process_id(void)
{
	return (int32_t)syscall(SYS_getpid);
}

#endif
