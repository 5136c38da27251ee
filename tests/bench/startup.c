/* SPDX-License-Identifier: MIT */
/*
 * What it costs to start a program with the library. Usage:
 *
 *   startup LIBRARY ROUNDS	time from posix_spawn to the end of /bin/true, bare and preloaded in
 *				turn: the line of print_pairs(), in us
 *   startup LIBRARY memory	private memory in KiB of a sleeping child beside one like it, bare
 * and preloaded, and of one alone, bare and preloaded
 */
#include "bench.h"

#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>

static char *true_argv[] = { "/bin/true", NULL };
static char *sleep_argv[] = { "/bin/sleep", "60", NULL };

static pid_t start(char **argv, char **environment)
{
	pid_t pid;

	if (posix_spawn(&pid, argv[0], NULL, NULL, argv, environment))
		die(argv[0]);
	return pid;
}

static double lifetime(char **environment)
{
	int64_t start_ns = now_ns();
	pid_t pid = start(true_argv, environment);
	int status;

	MUST(waitpid(pid, &status, 0));
	if (status) {
		fputs("startup: true failed\n", stderr);
		exit(1);
	}
	return (double)(now_ns() - start_ns) / 1000;
}

static void time_lifetimes(char **bare, char **shim, size_t n)
{
	double a[n], b[n];

	for (int i = 0; i < 20; i++) {
		lifetime(bare);
		lifetime(shim);
	}
	for (size_t i = 0; i < n; i++) {
		if (i % 2)
			b[i] = lifetime(shim);
		a[i] = lifetime(bare);
		if (i % 2 == 0)
			b[i] = lifetime(shim);
	}
	print_pairs(a, b, n);
}

/* Waits until the child sits in its nanosleep, so that its start-up is over. */
static void await_sleep(pid_t pid)
{
	char path[64], line[64];

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	for (int i = 0; i < 500; i++) {
		FILE *file = fopen(path, "re");

		if (file && fgets(line, sizeof(line), file) &&
		    (atoi(line) == SYS_clock_nanosleep || atoi(line) == SYS_nanosleep)) {
			fclose(file);
			return;
		}
		if (file)
			fclose(file);
		usleep(10000);
	}
	fputs("startup: the child does not sleep\n", stderr);
	exit(1);
}

/* Beside a second process of the kind the pages of files are shared, as on a machine in use; alone
 * the library's own text counts as private too. */
static long private_kib(char **environment, bool alone)
{
	pid_t second = alone ? 0 : start(sleep_argv, environment);
	pid_t pid = start(sleep_argv, environment);
	long sum = 0, kib;
	char path[64], line[256];
	FILE *file;

	if (second)
		await_sleep(second);
	await_sleep(pid);
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	if (!file)
		die(path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "Private_Dirty: %ld", &kib) == 1 ||
		    sscanf(line, "Private_Clean: %ld", &kib) == 1)
			sum += kib;
	fclose(file);
	kill(pid, SIGKILL);
	MUST(waitpid(pid, NULL, 0));
	if (second) {
		kill(second, SIGKILL);
		MUST(waitpid(second, NULL, 0));
	}
	return sum;
}

int main(int argc, char **argv)
{
	char **bare, **shim;

	if (argc != 3) {
		fputs("usage: startup LIBRARY ROUNDS|memory\n", stderr);
		return 2;
	}
	bare = environment_with("-");
	shim = environment_with(argv[1]);
	if (strcmp(argv[2], "memory") == 0)
		printf("%ld %ld %ld %ld\n", private_kib(bare, false), private_kib(shim, false),
		       private_kib(bare, true), private_kib(shim, true));
	else
		time_lifetimes(bare, shim, (size_t)number(argv[2], 1));
	return 0;
}
