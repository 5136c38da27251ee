/* SPDX-License-Identifier: MIT */
/*
 * A signal arrives when a slice of the wait is over and the thread has not yet got a processor: the
 * handler runs before the next slice begins. On a busy machine that is so for one alarm in a
 * hundred; here a tracer stops the thread in that place and sends it there.
 * Usage: wait_gap restart|interrupt|timed
 */
#include "probe.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

#ifndef SYS_clock_nanosleep_time64
#define SYS_clock_nanosleep_time64 (-1)
#endif
#ifndef SYS_clock_nanosleep
#define SYS_clock_nanosleep (-1)
#endif

static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
	(void)signal;
	handled++;
}

static void traced(const char *what)
{
	struct sigaction action = { .sa_handler = on_alarm }, crash = { .sa_handler = on_alarm };
	struct timeval limit = { .tv_sec = strcmp(what, "timed") == 0 ? 60 : 0 };
	int held, fd, err;
	uint16_t port = refusing_port(&held);
	int64_t ms;

	if (strcmp(what, "interrupt") != 0)
		action.sa_flags = SA_RESTART;
	else
		crash.sa_flags = SA_RESTART;
	printf("first: %s\n", error_name(attempt(port, NULL)));
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGSEGV, &crash, NULL);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (ptrace(PTRACE_TRACEME) != 0)
		_exit(PROBE_CANNOT);
	raise(SIGSTOP);
	err = spin_until_held(fd, port, &ms);
	printf("second: %s, %s\n", error_name(err), length_of(ms, 2000));
	printf("signals handled: %s\n", handled ? "some" : "none");
	fflush(stdout);
	_exit(0);
}

/* True if it is a wait for nothing but time. */
static bool waits(const struct __ptrace_syscall_info *call)
{
	long number = (long)call->entry.nr;

	return number == SYS_clock_nanosleep || number == SYS_clock_nanosleep_time64 ||
	       (number == SYS_ppoll && call->entry.args[1] == 0);
}

/* Lets it go on from stop to stop; at the end of its first wait that nothing ended, the alarm.
 * False: the kernel does not tell of calls (before Linux 5.3). */
static bool trace(pid_t child)
{
	bool waiting = false, sent = false;
	int status, pass = 0;

	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
	while (ptrace(PTRACE_SYSCALL, child, NULL, pass) == 0 &&
	       waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		struct __ptrace_syscall_info call;

		pass = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
		if (pass != 0 || ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(call), &call) <= 0)
			continue;
		if (call.op == PTRACE_SYSCALL_INFO_ENTRY)
			waiting = waits(&call);
		else if (call.op == PTRACE_SYSCALL_INFO_EXIT && waiting && !sent &&
		         (call.exit.rval == 0 || call.exit.rval == -ETIMEDOUT))
			sent = kill(child, SIGALRM) == 0;
	}
	return true;
}

int main(int argc, char **argv)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		traced(argc > 1 ? argv[1] : "restart");
	if (waitpid(child, &status, 0) != child)
		give_up("child");
	return WIFSTOPPED(status) && trace(child) ? 0 : PROBE_CANNOT;
}
