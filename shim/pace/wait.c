/* SPDX-License-Identifier: MIT */
/*
 * A blocking connect is restarted after a handler installed with SA_RESTART and ended by one
 * without; nanosleep and poll always end. futex_waitv (Linux 5.16) has connect's semantics, needs
 * no descriptor that a fork could leak or a close-all loop reuse (as a timerfd would), and leaves
 * nothing behind when siglongjmp leaves it.
 */
#include "pace/wait.h"

#include "hook/real.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* Between two looks at whether we were cancelled, or the destination came back. */
#define SLICE (100 * NS_PER_MS)

/* The kernel's types of futex_waitv(2): 64 bits wide everywhere. */
struct waiter {
	uint64_t value, address;
	uint32_t flags, reserved;
};

struct time64 {
	int64_t seconds, nanoseconds;
};

static _Atomic(bool) without_waitv;

/* Before Linux 5.16: the sleep always ends, so ask whether every handler that can have run here
 * wants its calls restarted. Where they differ the wait ends: the host then sees its error early,
 * which it can stand, instead of late, which an alarm() was meant to prevent. */
static bool handlers_restart(void)
{
	sigset_t blocked;

	if (sigprocmask(SIG_BLOCK, NULL, &blocked) != 0)
		return false;
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (sigismember(&blocked, number) == 1 || sigaction(number, NULL, &action) != 0)
			continue;
		if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
		    !(action.sa_flags & SA_RESTART))
			return false;
	}
	return true;
}

static int sleep_until(int64_t until)
{
	struct timespec at = { .tv_sec = (time_t)(until / NS_PER_S),
		               .tv_nsec = (long)(until % NS_PER_S) };

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* One slice. 0: it is over; EINTR: a handler ended it. */
static int slice(int64_t until, enum wait_manner manner)
{
	static const uint32_t word;
	struct waiter waiter = { .address = (uintptr_t)&word,
		                 .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG };
	struct time64 at = { until / NS_PER_S, until % NS_PER_S };

	if (manner == WAIT_AS_CONNECT && !atomic_load(&without_waitv)) {
		if (syscall(SYS_futex_waitv, &waiter, 1, 0, &at, CLOCK_MONOTONIC) >= 0 ||
		    errno == ETIMEDOUT)
			return 0;
		if (errno == EINTR)
			return EINTR;
		atomic_store(&without_waitv, true);
	}
	while (sleep_until(until) == EINTR)
		if (manner == WAIT_AS_TIMED || (manner == WAIT_AS_CONNECT && !handlers_restart()))
			return EINTR;
	return 0;
}

enum wait_end wait_until(int64_t deadline, enum wait_manner manner, const struct budget *budget)
{
	enum wait_end end = WAIT_OVER;
	int64_t now = monotonic();
	/* A clock that stands still (libfaketime) must not make the wait endless. */
	int64_t slices = (deadline - now) / SLICE + 1;
	int saved = errno;

	for (;; now = monotonic()) {

		if (pthread_testcancel)
			pthread_testcancel();
		if (now >= deadline || slices-- < 0)
			break;
		if (budget && atomic_load_explicit(&budget->streak, memory_order_relaxed) == 0) {
			end = WAIT_RELEASED;
			break;
		}
		if (slice(deadline - now > SLICE ? now + SLICE : deadline, manner) == EINTR) {
			end = WAIT_INTERRUPTED;
			break;
		}
	}
	errno = saved;
	return end;
}
