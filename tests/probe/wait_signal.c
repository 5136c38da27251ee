/* SPDX-License-Identifier: MIT */
/*
 * A signal arrives while a retry is held back. A blocking connect() goes on after a handler that
 * was installed with SA_RESTART and ends after one that was not (signal(7)); the wait must do the
 * same, and must never tell the host EINTR, which Node and Python take for "in progress".
 * Usage: wait_signal restart|interrupt
 */
#include "probe.h"

static volatile sig_atomic_t handled;

static void on_alarm(int signal)
{
	(void)signal;
	handled++;
}

int main(int argc, char **argv)
{
	bool restart = argc > 1 && strcmp(argv[1], "restart") == 0;
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = restart ? SA_RESTART : 0 };
	int64_t ms;
	int held, err;
	uint16_t port = refusing_port(&held);

	printf("first: %s\n", error_name(attempt(port, NULL)));
	sigaction(SIGALRM, &action, NULL);
	alarms_from(300);
	err = attempt(port, &ms);
	printf("second: %s, %s\n", error_name(err), length_of(ms, 2000));
	if (ms > 1000 && !handled)
		printf("the handler did not run\n");
	for (int i = 0; i < 50 && !handled; i++)
		pause_ms(100);
	printf("signals handled: %s\n", handled ? "some" : "none");
	return 0;
}
