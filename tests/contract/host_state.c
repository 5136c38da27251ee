/* SPDX-License-Identifier: MIT */
/*
 * A program with settings of every kind (HAZARDS 71), which then fails, is refused and held for
 * what it spins, and talks. At exit witness.c writes down what has become of them.
 */
#include "trap.h"

#include <locale.h>
#include <sys/timerfd.h>

/* Two failures, a row of refusals, and a few holds. */
#define SPINS 15

static void handler(int signal)
{
	(void)signal;
}

static void set_signals(void)
{
	static char stack[65536];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	sigset_t some;

	sigaction(SIGUSR1, &action, NULL);
	action.sa_flags = SA_RESTART | SA_NODEFER;
	sigaction(SIGPIPE, &action, NULL);
	sigaction(SIGWINCH, &action, NULL); /* not blocked below, but by the shim while it holds */
	signal(SIGHUP, SIG_IGN);
	sigaltstack(&own, NULL);
	sigemptyset(&some);
	sigaddset(&some, SIGUSR1);
	sigaddset(&some, SIGPIPE);
	sigaddset(&some, SIGTERM);
	sigaddset(&some, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &some, NULL);
	raise(SIGUSR1);
	raise(SIGPIPE);
	raise(SIGRTMIN + 3);
}

static void set_timers(void)
{
	struct itimerval hour = { { 0, 0 }, { 3600, 0 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct itimerspec then = { .it_value = { 7200, 0 } };
	timer_t id;

	setitimer(ITIMER_REAL, &hour, NULL);
	setitimer(ITIMER_VIRTUAL, &hour, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &id) == 0)
		timer_settime(id, 0, &then, NULL);
}

/* What a vfork child says of itself is nothing that its parent, which is held later, has said. */
static void let_a_child_confine_itself(void)
{
	pid_t child = vfork();

	if (child == 0) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void set_the_rest(void)
{
	struct rlimit few = { 100, 100 };

	setlocale(LC_ALL, "C.UTF-8");
	srand(7);
	srand48(7);
	umask(0137);
	setenv("LANGUAGE", "of the host", 1);
	putenv("ODD");
	setrlimit(RLIMIT_NOFILE, &few);
	setpriority(PRIO_PROCESS, 0, 3);
	prctl(PR_SET_NAME, "a name");
	prctl(PR_SET_TIMERSLACK, 70000);
	prctl(PR_SET_DUMPABLE, 0);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	if (chdir("/usr") != 0)
		give_up("chdir");
}

int main(void)
{
	uint16_t port = start_server(SERVER_ECHO, NULL), bad;
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST }, *found;
	int held, errors = 0;

	bad = refusing_port(&held);
	let_a_child_confine_itself();
	set_the_rest();
	set_signals();
	set_timers();
	for (int i = 0; i < SPINS; i++)
		errors += attempt(bad, NULL) == ECONNREFUSED;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); /* whoever says so is held no more (HAZARDS 75) */
	errors += attempt(bad, NULL) == ECONNREFUSED;
	h_errno = TRY_AGAIN;
	if (getaddrinfo("127.0.0.1", "80", &hints, &found) == 0)
		freeaddrinfo(found);
	printf("refused: %d, %s, next numbers: %d %ld\n", errors, talk(port), rand(), lrand48());
	printf("left in: %d\n", count_fds());
	return 0;
}
