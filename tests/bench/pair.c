/* SPDX-License-Identifier: MIT */
/*
 * Times a worker bare against the same worker preloaded, batch by batch in turn, so that whatever
 * else the machine does hits both alike and cancels. Where a process happens to lie in memory moves
 * a system call by several ns for all its life; so the pairs of processes are many. Usage:
 *
 *   pair LIBRARY PAIRS BATCHES WORKER ARG...	LIBRARY "-": bare against bare
 *
 * A worker does one batch per byte on its stdin and answers with the ns per operation as a double.
 * Prints the line of print_pairs() over the pairs of processes, in ns.
 */
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>

#define WARM_UP 3

struct worker {
	pid_t pid;
	int to, from;
};

static struct worker start(const char *library, char **argv)
{
	posix_spawn_file_actions_t actions;
	struct worker worker;
	int in[2], out[2];

	MUST(
	    pipe2(in, 02000000)); /* O_CLOEXEC: or the second worker would hold the first's stdin */
	MUST(pipe2(out, 02000000));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	if (posix_spawn(&worker.pid, argv[0], &actions, NULL, argv, environment_with(library)))
		die(argv[0]);
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	worker.to = in[1];
	worker.from = out[0];
	return worker;
}

static double batch(const struct worker *worker)
{
	double each;

	MUST(write(worker->to, "", 1));
	if (read(worker->from, &each, sizeof(each)) != sizeof(each)) {
		fputs("pair: the worker died\n", stderr);
		exit(1);
	}
	return each;
}

static void stop(const struct worker *worker)
{
	int status;

	close(worker->to);
	MUST(waitpid(worker->pid, &status, 0));
	if (status) {
		fprintf(stderr, "pair: the worker ended with status %#x\n", status);
		exit(1);
	}
}

/* One pair of processes: *a the median of the bare batches, *b that plus the median difference. */
static void run_pair(const char *library, size_t batches, char **argv, bool shim_first, double *a,
                     double *b)
{
	struct worker bare, shim;
	double each[batches], difference[batches];

	if (shim_first)
		shim = start(library, argv);
	bare = start("-", argv);
	if (!shim_first)
		shim = start(library, argv);
	for (int i = 0; i < WARM_UP; i++) {
		batch(&bare);
		batch(&shim);
	}
	for (size_t i = 0; i < batches; i++) {
		double preloaded = 0;

		if (i % 2)
			preloaded = batch(&shim);
		each[i] = batch(&bare);
		if (i % 2 == 0)
			preloaded = batch(&shim);
		difference[i] = preloaded - each[i];
	}
	stop(&bare);
	stop(&shim);
	*a = quantile(each, batches, 0.5);
	*b = *a + quantile(difference, batches, 0.5);
}

int main(int argc, char **argv)
{
	size_t pairs, batches;
	double *a, *b;

	if (argc < 5) {
		fputs("usage: pair LIBRARY PAIRS BATCHES WORKER ARG...\n", stderr);
		return 2;
	}
	pairs = (size_t)number(argv[2], 1);
	batches = (size_t)number(argv[3], 1);
	a = calloc(2 * pairs, sizeof(*a));
	if (!a)
		die("calloc");
	b = a + pairs;
	for (size_t i = 0; i < pairs; i++)
		run_pair(argv[1], batches, argv + 4, i % 2, &a[i], &b[i]);
	print_pairs(a, b, pairs);
	return 0;
}
