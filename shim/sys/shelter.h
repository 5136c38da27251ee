/* SPDX-License-Identifier: MIT */
/*
 * The state of a thread in which nothing can carry it away: no handler that jumps, no cancellation.
 * For the moments in which a descriptor of ours is open, or a lock of the loader is held. Signals
 * are masked first and unmasked last, or one that was pending could jump out with cancellation off.
 *
 * What a fault raises stays unmasked: masked, it ends the program, though it has a handler. A
 * sandbox may raise SIGSYS for any system call of ours (SECCOMP_RET_TRAP), and its handler answers
 * it.
 */
#ifndef RETRYBUDGET_SYS_SHELTER_H
#define RETRYBUDGET_SYS_SHELTER_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

struct shelter {
	sigset_t signals;
	int cancel;
};

static inline bool shelter_is_fault(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
	       number == SIGTRAP || number == SIGSYS || number == SIGABRT;
}

/*
 * Whether the program handles the signal by a function of its own; *action tells how. It asks and
 * sets nothing: sigaction() is async-signal-safe (signal-safety(7)). Of a number that libc keeps
 * for itself it sets errno.
 */
static inline bool shelter_is_handled(int number, struct sigaction *action)
{
	return sigaction(number, NULL, action) == 0 && action->sa_handler != SIG_DFL &&
	       action->sa_handler != SIG_IGN;
}

/* Blocks all that may be, and tells what was blocked before. False: a sandbox forbids it. */
static inline bool shelter_block(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	for (int number = 1; number < NSIG; number++)
		if (shelter_is_fault(number))
			sigdelset(&all, number);
	return sigprocmask(SIG_BLOCK, &all, before) == 0;
}

static inline void shelter_enter(struct shelter *shelter)
{
	if (!shelter_block(&shelter->signals))
		sigemptyset(&shelter->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &shelter->cancel);
}

static inline void shelter_leave(const struct shelter *shelter)
{
	pthread_setcancelstate(shelter->cancel, NULL);
	sigprocmask(SIG_SETMASK, &shelter->signals, NULL);
}

#endif
