/* SPDX-License-Identifier: MIT */
/* Asking the kernel, by a call that every program makes: a sandbox that kills for
 * process_vm_readv() lets it pass (HAZARDS 75). */
#include "sys/memory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel copies a mask of signals from there before it finds that it is told to do nothing with
 * it. */
static bool can_be_read(const char *at)
{
	return syscall(SYS_rt_sigprocmask, -1, at, NULL, sizeof(uint64_t)) == 0 || errno != EFAULT;
}

static bool are_in_one_page(const char *one, const char *other)
{
	return (uintptr_t)one / MEMORY_MOST == (uintptr_t)other / MEMORY_MOST;
}

bool memory_is_there(const void *at, size_t n)
{
	const char *bytes = at;
	int saved = errno;
	bool there;

	if (n > MEMORY_MOST)
		n = MEMORY_MOST;
	/* Of NULL the kernel reads nothing, and says nothing. */
	there = n > 0 && memory_may_be_there(at) && can_be_read(bytes) &&
	        (n <= sizeof(uint64_t) || are_in_one_page(bytes, bytes + n - 1) ||
	         can_be_read(bytes + n - sizeof(uint64_t)));
	errno = saved;
	return there;
}
