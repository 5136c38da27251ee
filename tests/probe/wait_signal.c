/* SPDX-License-Identifier: MIT */
/*
 * A signal arrives while a retry is throttled. Its handler ends the wait whether or not it was
 * installed with SA_RESTART: a handler that sets a flag is the commonest way to be stopped. The
 * program is never told EINTR, which Node and Python take for "in progress". libc's own handler, by
 * which a thread has all others change their user, ends nothing.
 *
 * Usage: wait_signal restart|interrupt|once|setuid|setuid-handler
 * once: the handler, with SA_RESTART, takes itself off; setuid-handler: there is one, and nobody
 * calls it.
 */
#include "probe.h"

static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
	(void)signal;
	handled++;
}

/* Again after a second, should the first come between two slices of the wait. Sooner, and the
 * slices that the later ones cut short would hide a wait that goes on. */
static void alarm_soon(bool again)
{
	struct itimerval timer = { .it_value.tv_usec = 300000, .it_interval.tv_sec = again };

	setitimer(ITIMER_REAL, &timer, NULL);
}

static void *change_user(void *arg)
{
	pause_ms(300);
	handled += (strcmp(arg, "setuid") == 0 ? setuid(getuid()) : seteuid(65534)) == 0;
	return arg;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "restart";
	struct sigaction action = { .sa_handler = on_alarm };
	pthread_t thread;
	int64_t ms;
	int held, err;
	uint16_t port = refusing_port(&held);

	printf("first: %s\n", error_name(attempt(port, NULL)));
	if (strncmp(what, "setuid", 6) == 0) {
		if (strcmp(what, "setuid") != 0 && geteuid() != 0)
			return PROBE_CANNOT;
		if (pthread_create(&thread, NULL, change_user, (void *)(uintptr_t)what) != 0)
			give_up("thread");
	}
	if (strcmp(what, "setuid") != 0) {
		if (strcmp(what, "restart") == 0 || strcmp(what, "once") == 0)
			action.sa_flags = SA_RESTART;
		if (strcmp(what, "once") == 0)
			action.sa_flags |= SA_RESETHAND;
		sigaction(SIGALRM, &action, NULL);
	}
	if (strncmp(what, "setuid", 6) != 0)
		alarm_soon(strcmp(what, "once") != 0);
	err = spin_until_held(-1, port, &ms);
	printf("second: %s, %s\n", error_name(err), length_of(ms, 2000));
	if (ms > 1000 && !handled)
		printf("the handler did not run\n");
	for (int i = 0; i < 50 && !handled; i++)
		pause_ms(100);
	printf("signals handled: %s\n", handled ? "some" : "none");
	return 0;
}
