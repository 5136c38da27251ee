/* SPDX-License-Identifier: MIT */
/* A program that puts a filter of system calls on itself (HAZARDS 75). libseccomp, which makes the
 * call for the filter by number, says by prctl before it that no privileges will be gained. */
#include "hook/hook.h"
#include "sys/confined.h"
#include "sys/thread.h"

#include <sys/prctl.h>

/* Once: under a first filter it may not be asked any more whose memory this is. What a vfork child
 * says it says of what it executes, and not of its parent, whose that is. */
static inline void listen_to(int option)
{
	bool confines = option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS;

	if (confines && !confined_by_itself() && !thread_is_borrowed())
		confined_begin();
}

int prctl_hook(int option, unsigned long second, unsigned long third, unsigned long fourth,
               unsigned long fifth)
{
	listen_to(option);
	return real.prctl(option, second, third, fourth, fifth);
}

#if defined(__GLIBC__) && TIME64_NAMES
int __prctl_time64_hook(int option, unsigned long second, unsigned long third, unsigned long fourth,
                        unsigned long fifth)
{
	listen_to(option);
	return real.__prctl_time64(option, second, third, fourth, fifth);
}
#endif
