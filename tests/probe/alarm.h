/* SPDX-License-Identifier: MIT */
/* An alarm that stands in for the timeout of the bare program. */
#ifndef RETRYBUDGET_TESTS_PROBE_ALARM_H
#define RETRYBUDGET_TESTS_PROBE_ALARM_H

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>

static sigjmp_buf before_alarm;
static volatile sig_atomic_t handled, jumps;

static void on_alarm(int signal)
{
	(void)signal;
	handled++;
	if (jumps)
		siglongjmp(before_alarm, 1);
}

/* ms: 0 takes it back; every: 0 = once. */
static void alarm_in(int ms, int every, int flags)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = flags };
	struct itimerval timer = { .it_value = { ms / 1000, ms % 1000 * 1000L },
		                   .it_interval = { every / 1000, every % 1000 * 1000L } };

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

#endif
