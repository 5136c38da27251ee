/* SPDX-License-Identifier: MIT */
/*
 * A signal arrives when a slice of the wait is over and the thread has not yet got a processor: the
 * handler runs before the next slice begins. On a busy machine that is so for one alarm in a
 * hundred; here a tracer stops the thread in that place and sends it there.
 * Usage: wait_gap restart|interrupt|timed
 */
#include "probe.h"

#include <sched.h>
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

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

/* As spin_until_held(). In each call a tracer lets the thread sleep, which may be work: it uses its
 * processor for longer than that. A call that only waited long for its processor is not the one: in
 * that a handler has run too, or it took the whole hold. */
static int burn_until_held(int fd, uint16_t port, int64_t *ms)
{
	struct sockaddr_in to = loopback(port);
	int64_t end = now_us() + 3000000;
	int err = 0;

	for (int made = 0; made < 200 || (made < 2000 && now_us() < end); made++) {
		int64_t start = now_us(), took;
		int before = handled;

		err = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
		took = now_us() - start;
		*ms = took / 1000;
		if (*ms >= 1500 || (*ms >= 150 && handled != before))
			break;
		while (now_us() < start + 3 * took && took < 10000)
			;
	}
	return err;
}

/* What waits for its processor for 15 ms between two tries does not spin, and is not held: with
 * this, where the machine allows it, no other program keeps the two of us waiting. */
static void go_first(void)
{
	struct sched_param first = { .sched_priority = 1 };

	sched_setscheduler(0, SCHED_FIFO, &first);
}

static void traced(const char *what)
{
	struct sigaction action = { .sa_handler = on_alarm }, crash = { .sa_handler = on_alarm };
	struct timeval limit = { .tv_sec = strcmp(what, "timed") == 0 ? 60 : 0 };
	int held, fd, err;
	uint16_t port = refusing_port(&held);
	int64_t ms = 0;

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
	err = burn_until_held(fd, port, &ms);
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

/* Lets it go on from stop to stop; at the end of each wait that nothing ended, the alarm: before
 * the hold there may be some as long as a failure there takes. False: the kernel does not tell of
 * calls (before Linux 5.3). */
static bool trace(pid_t child)
{
	bool waiting = false;
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
		else if (call.op == PTRACE_SYSCALL_INFO_EXIT && waiting &&
		         (call.exit.rval == 0 || call.exit.rval == -ETIMEDOUT))
			kill(child, SIGALRM);
	}
	return true;
}

int main(int argc, char **argv)
{
	pid_t child;
	int status;

	go_first();
	child = fork();
	if (child == 0)
		traced(argc > 1 ? argv[1] : "restart");
	if (waitpid(child, &status, 0) != child)
		give_up("child");
	return WIFSTOPPED(status) && trace(child) ? 0 : PROBE_CANNOT;
}
