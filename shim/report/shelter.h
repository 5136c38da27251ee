/* SPDX-License-Identifier: MIT */
/*
 * The state of a thread in which nothing can carry it away: no handler that jumps, no cancellation.
 * For the moments in which a descriptor of ours is open, or a lock of the loader is held. Signals
 * are masked first and unmasked last, or one that was pending could jump out with cancellation off.
 */
#ifndef RETRYBUDGET_REPORT_SHELTER_H
#define RETRYBUDGET_REPORT_SHELTER_H

#include <pthread.h>
#include <signal.h>

struct shelter {
	sigset_t signals;
	int cancel;
};

static inline void shelter_enter(struct shelter *shelter)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &shelter->signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &shelter->cancel);
}

static inline void shelter_leave(const struct shelter *shelter)
{
	pthread_setcancelstate(shelter->cancel, NULL);
	sigprocmask(SIG_SETMASK, &shelter->signals, NULL);
}

#endif
