/* SPDX-License-Identifier: MIT */
/*
 * What it costs that many processes share a budget, in the library's own rooms: an attempt is
 * looked up, judged, counted and refused, by no call of the kernel. Usage:
 *
 *   contend cost SCOPE PROCESSES THREADS DESTINATIONS ROUNDS	ns of processor time each
 *   contend lines	lines of a cache that one attempt writes in the region: of the destination
 *			and of all together, refused; and the same of one that is answered
 *   contend transfer	ns until a line that another processor has written can be written here
 *
 * SCOPE: user, or process: then each process has a region of its own. Run it in a namespace whose
 * /dev/shm is empty, with RETRYBUDGET_CONFIG.
 */
#include "conn/attempt.h"
#include "conn/outcome.h"
#include "conn/sockets.h"
#include "config/current.h"
#include "dest/lineage.h"
#include "pace/result.h"
#include "region/counters.h"
#include "region/state.h"
#include "sys/real.h"
#include "sys/thread.h"
#include "../bench.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define THREADS_MOST 64
#define WELL         20001 /* a port */

static long destinations, rounds, threads;
static pthread_barrier_t warm, go, done;

static void begin(enum scope scope)
{
	const char *why = NULL;
	struct region *region;

	if (!real_resolve())
		die("real_resolve");
	config_start(false);
	thread_setup();
	region = region_open(scope, "default", &why);
	if (!region || why) {
		fprintf(stderr, "bench: no region: %s\n", why ? why : "");
		exit(1);
	}
	shim_use(region, thread_process());
	if (scope != SCOPE_PROCESS)
		lineage_setup(false);
	shim_state = STATE_READY;
}

/* True if it may go. */
static bool attempt(int fd, long which, struct attempt *try)
{
	struct sockaddr_in to = loopback((uint16_t)(which + 1));

	if (!attempt_begin_connect(try, fd, (struct sockaddr *)&to, sizeof(to)))
		die("attempt_begin_connect");
	if (!try->trial.retry ||
	    budget_verdict(&try->account, try->account.policy->cost, try->began) != REFUSED)
		return true;
	result_refused_now(try, 0, try->began);
	return false;
}

static void fail(int fd, long which)
{
	struct attempt try;

	if (attempt(fd, which, &try))
		outcome_failure(&try.trial, FAILURE_REFUSED, ECONNREFUSED, 0);
}

/* A socket of which is known what socket() would have told. */
static int new_socket(void)
{
	int fd = (int)MUST(socket(AF_INET, SOCK_STREAM, 0));

	socket_created(fd, WATCH_STREAM);
	return fd;
}

static void *work(void *seed)
{
	uint64_t dice = (uint64_t)(uintptr_t)seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
	int fd = new_socket();

	/* All of them once: a page that a process has not touched yet costs it a fault. */
	for (long i = (long)((uintptr_t)seed % THREADS_MOST); i < destinations; i += threads)
		fail(fd, i);
	for (int part = 0; part < 2; part++) {
		for (long i = 0; i < rounds; i++) {
			dice ^= dice << 13;
			dice ^= dice >> 7;
			dice ^= dice << 17;
			fail(fd, (long)(dice >> 16) % destinations);
		}
		if (part == 0) {
			pthread_barrier_wait(&warm);
			pthread_barrier_wait(&go);
		}
	}
	pthread_barrier_wait(&done);
	return NULL;
}

static int64_t processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Says a byte when it is warm, waits for the end of `in`, and says what it took. */
static void process(enum scope scope, int in, int out)
{
	pthread_t thread;
	int64_t before;
	double each;
	char c;

	begin(scope);
	pthread_barrier_init(&warm, NULL, (unsigned int)threads + 1);
	pthread_barrier_init(&go, NULL, (unsigned int)threads + 1);
	pthread_barrier_init(&done, NULL, (unsigned int)threads + 1);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread, NULL, work,
		                   (void *)(uintptr_t)(getpid() * (long)THREADS_MOST + i)))
			die("pthread_create");
	pthread_barrier_wait(&warm);
	MUST(write(out, "", 1));
	(void)!read(in, &c, 1);
	before = processor_ns();
	pthread_barrier_wait(&go);
	pthread_barrier_wait(&done);
	each = (double)(processor_ns() - before) / (double)(rounds * threads);
	MUST(write(out, &each, sizeof(each)));
	_exit(0);
}

static int cost(enum scope scope, long processes)
{
	int hold[2], out[2], status;
	double each, sum = 0;
	char c;

	MUST(pipe(hold));
	MUST(pipe(out));
	for (long i = 0; i < processes; i++)
		if (MUST(fork()) == 0) {
			close(hold[1]);
			process(scope, hold[0], out[1]);
		}
	close(out[1]);
	for (long i = 0; i < processes; i++)
		if (read(out[0], &c, 1) != 1)
			die("a process died");
	close(hold[1]);
	for (long i = 0; i < processes; i++) {
		if (read(out[0], &each, sizeof(each)) != sizeof(each))
			die("a process died");
		sum += each;
	}
	while (wait(&status) > 0)
		if (status)
			die("a process failed");
	printf("%.1f\n", sum / (double)processes);
	return 0;
}

/* Lines that changed since the copy was taken, of the slots and of what all have in common. */
static void compare(const char *copy, long *slots, long *common)
{
	const char *now = (const char *)shim_region;
	size_t from = offsetof(struct region, first.keys);
	size_t to = offsetof(struct region, admissions);

	*slots = *common = 0;
	/* The tallies after them are for a process each. */
	for (size_t at = 0; at < offsetof(struct region, tallies); at += REGION_LINE)
		if (memcmp(now + at, copy + at, REGION_LINE) != 0)
			*(at >= from && at < to ? slots : common) += 1;
}

static int lines(void)
{
	char *copy = aligned_alloc(REGION_LINE, sizeof(*shim_region));
	long slots, common;
	struct attempt try;
	int fd;

	begin(SCOPE_USER);
	fd = new_socket();
	if (!copy)
		die("aligned_alloc");
	for (int i = 0; i < 100; i++) {
		memcpy(copy, shim_region, sizeof(*shim_region));
		fail(fd, 0);
	}
	compare(copy, &slots, &common);
	printf("%ld %ld ", slots, common);
	for (int i = 0; i < 100; i++) {
		memcpy(copy, shim_region, sizeof(*shim_region));
		if (attempt(fd, WELL, &try))
			outcome_success(&try.trial);
		count_answered(shim_tally, try.trial.destination, false);
	}
	compare(copy, &slots, &common);
	printf("%ld %ld\n", slots, common);
	return 0;
}

static struct {
	_Alignas(REGION_LINE) cell64 turn;
} ball;

static void *play(void *of)
{
	int64_t mine = (int64_t)(intptr_t)of;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)mine, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
	for (long i = 0; i < rounds; i++) {
		while ((atomic_load(&ball.turn) & 1) != mine)
			;
		atomic_fetch_add(&ball.turn, 1);
	}
	return NULL;
}

static int transfer(void)
{
	double each[9];
	pthread_t other;

	rounds = 20000;
	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++) {
		int64_t before = now_ns();

		if (pthread_create(&other, NULL, play, (void *)1))
			die("pthread_create");
		play((void *)0);
		pthread_join(other, NULL);
		each[i] = (double)(now_ns() - before) / (double)(2 * rounds);
	}
	printf("%.1f\n", quantile(each, sizeof(each) / sizeof(*each), 0.5));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "lines") == 0)
		return lines();
	if (argc == 2 && strcmp(argv[1], "transfer") == 0)
		return transfer();
	if (argc != 7 || strcmp(argv[1], "cost") != 0) {
		fputs("usage: contend cost SCOPE PROCESSES THREADS DESTINATIONS ROUNDS\n", stderr);
		return 2;
	}
	destinations = number(argv[5], 1);
	rounds = number(argv[6], 1);
	threads = lesser(number(argv[4], 1), THREADS_MOST);
	return cost(strcmp(argv[2], "user") == 0 ? SCOPE_USER : SCOPE_PROCESS, number(argv[3], 1));
}
