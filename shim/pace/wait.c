/* SPDX-License-Identifier: MIT */
/*
 * A blocking connect is restarted after a handler installed with SA_RESTART and ended by one
 * without. A wait in slices must not lose a handler that runs between two of them: by the time a
 * slice is over and its thread has a processor again, an alarm() may have rung. So signals that
 * have a handler are held but for ppoll, which lets them in, and which always tells of one (EINTR);
 * all that is left is what comes in the few instructions between two slices. What the handlers want
 * is asked of sigaction, before the wait: one may take itself off. Only where they differ,
 * futex_waitv (Linux 5.16) waits, which the kernel itself restarts as it does connect; then a
 * handler between two slices is lost. Neither needs a descriptor that a fork could leak or a
 * close-all loop reuse (as a timerfd would), or leaves anything behind when siglongjmp leaves it.
 */
#include "pace/wait.h"

#include "hook/real.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* The kernel's types of futex_waitv(2): 64 bits wide everywhere. */
struct waiter {
	uint64_t value, address;
	uint32_t flags, reserved;
};

struct time64 {
	int64_t seconds, nanoseconds;
};

static _Atomic(bool) without_waitv;

enum handlers {
	HANDLERS_NONE,
	HANDLERS_RESTART, /* all want the calls restarted that they interrupt */
	HANDLERS_END,     /* none does */
	HANDLERS_DIFFER,
};

/* What a fault of the host itself, or its sandbox, raises: held, it would end the host. */
static bool is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
	       number == SIGTRAP || number == SIGSYS || number == SIGABRT;
}

/* Of the signals that are not in `blocked` and may end a wait; those that have a handler are added
 * to `held`. */
static enum handlers handlers(const sigset_t *blocked, sigset_t *held)
{
	enum handlers seen = HANDLERS_NONE;

	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;
		enum handlers kind;

		if (is_fault(number) || sigismember(blocked, number) == 1 ||
		    sigaction(number, NULL, &action) != 0)
			continue;
		if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
			continue;
		kind = action.sa_flags & SA_RESTART ? HANDLERS_RESTART : HANDLERS_END;
		seen = seen == HANDLERS_NONE || seen == kind ? kind : HANDLERS_DIFFER;
		sigaddset(held, number);
	}
	return seen;
}

/* Where they differ the call ends: the host then sees its error early, which it can stand, instead
 * of late, which an alarm() was meant to prevent. So it does where there is none: that one has
 * taken itself off (SA_RESETHAND), as the old ones without SA_RESTART do. */
bool wait_restarts(void)
{
	sigset_t blocked, held;

	sigemptyset(&held);
	return sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 &&
	       handlers(&blocked, &held) == HANDLERS_RESTART;
}

/* One slice by futex_waitv. 0: it is over; EINTR: a handler ended it; ENOSYS: it cannot be had. */
static int wait_for_nothing(int64_t length)
{
	static const uint32_t word;
	struct waiter waiter = { .address = (uintptr_t)&word,
		                 .flags = FUTEX_32 | FUTEX_PRIVATE_FLAG };
	int64_t end = monotonic() + length;
	struct time64 at = { end / NS_PER_S, end % NS_PER_S };

	if (syscall(SYS_futex_waitv, &waiter, 1, 0, &at, CLOCK_MONOTONIC) >= 0 ||
	    errno == ETIMEDOUT)
		return 0;
	return errno == EINTR ? EINTR : ENOSYS;
}

/* Waits for `left`, of which it leaves what was left. 0: it is over; EINTR: a handler ran; else
 * waiting is impossible. The second look is for what came while its thread, its time over, had no
 * processor. */
static int wait_for_handler(struct timespec *left, const sigset_t *mask)
{
	struct timespec none = { 0 };

	if (syscall(SYS_ppoll, NULL, 0, left, mask, sizeof(uint64_t)) == 0 &&
	    syscall(SYS_ppoll, NULL, 0, &none, mask, sizeof(uint64_t)) == 0)
		return 0;
	return errno;
}

/* True if a wait goes on after a handler. With none of the host's it was one of libc's own (setuid
 * in another thread), which all want calls restarted, unless one has been installed since. */
static bool goes_on(enum wait_manner manner, enum handlers *kind, const sigset_t *own,
                    sigset_t *held)
{
	if (manner != WAIT_AS_CONNECT)
		return manner == WAIT_AS_LOOKUP;
	if (*kind == HANDLERS_NONE)
		*kind = handlers(own, held);
	return *kind == HANDLERS_NONE || *kind == HANDLERS_RESTART;
}

/* One slice of so many ns. 0: it is over; EINTR: a handler ended it; else waiting is impossible. */
static int slice(int64_t length, enum wait_manner manner)
{
	struct timespec left = { .tv_sec = (time_t)(length / NS_PER_S),
		                 .tv_nsec = (long)(length % NS_PER_S) };
	int64_t until = monotonic() + length;
	enum handlers kind = HANDLERS_NONE;
	sigset_t all, own, held;
	int err;

	/* All, while the handlers are asked for; none of them sees it. */
	sigfillset(&all);
	for (int number = 1; number < NSIG; number++)
		if (is_fault(number))
			sigdelset(&all, number);
	if (sigprocmask(SIG_BLOCK, manner == WAIT_AS_LOOKUP ? NULL : &all, &own) != 0)
		return errno;
	held = own;
	if (manner != WAIT_AS_LOOKUP)
		kind = handlers(&own, &held);
	if (manner == WAIT_AS_CONNECT && kind == HANDLERS_DIFFER && !atomic_load(&without_waitv)) {
		sigprocmask(SIG_SETMASK, &own, NULL);
		err = wait_for_nothing(length);
		if (err != ENOSYS)
			return err;
		atomic_store(&without_waitv, true);
	}
	sigprocmask(SIG_SETMASK, &held, NULL);
	for (;;) {
		err = wait_for_handler(&left, &own);
		if (err != EINTR || !goes_on(manner, &kind, &own, &held))
			break;
		if (monotonic() >= until) {
			err = 0;
			break;
		}
	}
	sigprocmask(SIG_SETMASK, &own, NULL);
	return err;
}

int64_t wait_timeout_of(int fd, int name)
{
	struct timeval timeout = { 0 };
	socklen_t len = sizeof(timeout);
	int64_t seconds;

	if (real.getsockopt(fd, SOL_SOCKET, name, &timeout, &len) != 0 ||
	    (timeout.tv_sec == 0 && timeout.tv_usec == 0))
		return INT64_MAX;
	seconds = timeout.tv_sec;
	if (seconds >= INT64_MAX / NS_PER_S)
		return INT64_MAX - 1;
	return seconds * NS_PER_S + (int64_t)timeout.tv_usec * 1000;
}

enum wait_end wait_until(int64_t deadline, enum wait_manner manner, const struct budget *budget)
{
	enum wait_end end = WAIT_OVER;
	int64_t now = monotonic();
	/* A clock that stands still (libfaketime, where libc's own cannot be had) must not make the
	 * wait endless. */
	int64_t slices = (deadline - now) / WAIT_SLICE + 1;
	int saved = errno, ended;

	for (;; now = monotonic()) {
		if (pthread_testcancel)
			pthread_testcancel();
		if (now >= deadline || slices-- < 0)
			break;
		if (budget && atomic_load_explicit(&budget->streak, memory_order_relaxed) == 0 &&
		    breaker_is_closed(&budget->breaker)) {
			end = WAIT_RELEASED;
			break;
		}
		ended = slice(deadline - now > WAIT_SLICE ? WAIT_SLICE : deadline - now, manner);
		if (ended != 0) {
			end = ended == EINTR ? WAIT_INTERRUPTED : WAIT_IMPOSSIBLE;
			break;
		}
	}
	errno = saved;
	return end;
}
