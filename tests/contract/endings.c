/* SPDX-License-Identifier: MIT */
/*
 * The ways out of a process, with connections used in whatever still runs then (HAZARDS 23).
 * Usage: endings exit|on-exit|quick|raw|abort|thread|signal
 */
#include "trap.h"

static uint16_t port, bad;

static void use(const char *when)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s: %s, %s\n", when, talk(port),
	                 error_name(attempt(bad, NULL)));

	if (write(1, line, n) != n)
		_exit(9);
}

static void at_exit(void)
{
	use("at exit");
}

static void on_exit_too(int status, void *unused)
{
	(void)status, (void)unused;
	use("on exit");
}

static void on_abort(int signal)
{
	(void)signal;
	use("in the handler");
}

__attribute__((destructor)) static void destroy(void)
{
	if (port != 0)
		use("destructor");
}

static void *outlive(void *unused)
{
	pause_ms(100); /* the first thread has gone by then */
	use("last thread");
	return unused;
}

static void end(const char *way)
{
	pthread_t thread;

	if (strcmp(way, "exit") == 0) {
		atexit(at_exit);
		exit(5);
	} else if (strcmp(way, "on-exit") == 0) {
		on_exit(on_exit_too, NULL);
		exit(6);
	} else if (strcmp(way, "quick") == 0) {
		at_quick_exit(at_exit);
		quick_exit(7);
	} else if (strcmp(way, "raw") == 0) {
		atexit(at_exit);
		_exit(8);
	} else if (strcmp(way, "abort") == 0) {
		signal(SIGABRT, on_abort);
		abort();
	} else if (strcmp(way, "thread") == 0) {
		atexit(at_exit);
		pthread_create(&thread, NULL, outlive, NULL);
		pthread_exit(NULL);
	}
	raise(SIGTERM);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "exit";
	struct rlimit none = { 0, 0 };
	pid_t child;
	int held;
	uint16_t serves = start_answering();

	setrlimit(RLIMIT_CORE, &none);
	bad = refusing_port(&held);
	child = fork();
	if (child == 0) {
		port = serves;
		use("before");
		end(way);
	}
	printf("ended: %s\n", ending_of(child));
	return 0;
}
