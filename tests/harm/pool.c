// SPDX-License-Identifier: MIT
/*
 * Threads (or one) that do jobs: each asks one of the targets, with retries. It is the program of
 * many scenes, and the load of those whose host serves. One line per job when all is done: KIND
 * MILLISECONDS ok|ERROR      from when the job was due, so that waiting in line counts
 *
 * Usage: pool [OPTION]... TARGET=KIND[xWEIGHT]...
 * KIND: h healthy, d dead, p partly failing, s a storm (no lines). TARGET: PORT, ADDRESS:PORT, and
 * PORT/PATH where the path is asked as it is; else each job has a path of its own.
 *   -n THREADS  -r JOBS-PER-SECOND (0: no pause)  -s SECONDS  -t TRIES (0: endless)  -p PAUSE-MS
 *   -o TIMEOUT-MS  -k kept connections  -b non-blocking connects  -m POSTs  -1 one-way  -l logs
 *   -q closes as soon as it has sent  -x closes before the server does
 *   -e reads to the end, and sends nothing  -E but for the first time
 *   -f every job asks the targets in order until one answers
 *   -a every job asks all targets
 *   -g PORT[/PATH][:PAUSE-MS] a thread beside them that asks this for ever: the storm
 *   -w every thread wants one connection and asks until it has it; the line says when
 *   -c COUNT jobs in all, one after the other
 *   -u tries again after replies alone: any other error ends the job
 *   -d which target a job asks is drawn: else they take turns
 *   -j the pause doubles from try to try, and each is drawn between nothing and that
 */
#include "options.h"
#include "work.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	MOST = 400, // targets
	LINES = 200000,
	GRACE = 8, // seconds that a job may take longer than the scene
};

struct target {
	char name[64], path[64], kind;
};

static struct way way;
static struct target targets[MOST];
static int target_count, threads = 1, tries = 1;
static double rate, seconds = 5, pause_between, started;
static long jobs_in_all;
static struct storm storm;
static bool failover, all, warm, jitter, replies_only, draws;
static atomic_long next_job, line_count, begun[128], ended[128];
static struct line {
	char kind, error[14];
	float milliseconds;
} lines[LINES];

static void note(char kind, double since, const char *error)
{
	atomic_fetch_add(&ended[(int)kind], 1);
	if (kind == 's')
		return;
	const long i = atomic_fetch_add(&line_count, 1);
	if (i >= LINES)
		return;
	lines[i].kind = kind;
	lines[i].milliseconds = (float)((seconds_now() - since) * 1e3);
	snprintf(lines[i].error, sizeof lines[i].error, "%s", error ? error : "ok");
}

static bool over(void)
{
	return seconds_now() > started + seconds;
}

static void pause_before(int try)
{
	static _Thread_local unsigned int seed;
	double pause = pause_between;
	if (jitter) {
		if (!seed)
			seed = (unsigned int)(seconds_now() * 1e9);
		pause *= (double)(1 << (try < 12 ? try - 1 : 11)) * rand_r(&seed) / RAND_MAX;
	}
	pause_ms(pause);
}

static const char *with_tries(const struct target *target, const char *path, int *kept)
{
	const char *error = NULL;
	for (int i = 0; tries == 0 || i < tries; i++) {
		if (i)
			pause_before(i);
		error = ask(target->name, path, &way, kept);
		if (!error || (i && over()) || (replies_only && strncmp(error, "HTTP", 4) != 0))
			break;
	}
	return error;
}

// In turn; or drawn, the same in each play.
static int target_of(long number)
{
	uint32_t drawn = (uint32_t)number;
	if (!draws)
		return (int)(number % target_count);
	for (int i = 0; i < 3; i++)
		drawn = (drawn ^ drawn >> 15) * 0x2c1b3c6du + 0x9e3779b9u;
	return (int)((uint64_t)drawn * (uint32_t)target_count >> 32);
}

static void job(long number, int *kept, double due)
{
	char path[128];
	const int only = target_of(number);
	const char *error = "none";
	if (failover)
		atomic_fetch_add(&begun['h'], 1);
	for (int i = failover || all ? 0 : only; i < target_count; i++) {
		const struct target *target = &targets[i];
		if (*target->path)
			snprintf(path, sizeof path, "%s", target->path);
		else
			snprintf(path, sizeof path, "/%c%ld", target->kind, number);
		if (!failover)
			atomic_fetch_add(&begun[(int)target->kind], 1);
		error = with_tries(target, path, &kept[i]);
		if (!failover)
			note(target->kind, due, error);
		if (failover ? !error : !all)
			break;
	}
	if (failover)
		note('h', due, error);
}

static void *work(void *unused)
{
	int kept[MOST];
	memset(kept, -1, sizeof kept);
	for (;;) {
		const long number = atomic_fetch_add(&next_job, 1);
		double due = rate > 0 ? started + (double)number / rate : seconds_now();
		if (jobs_in_all ? number >= jobs_in_all : due > started + seconds)
			return unused;
		if (due > seconds_now())
			pause_ms((due - seconds_now()) * 1e3);
		if (over()) { // jobs still in line then were never done
			const int i = failover ? 0 : target_of(number);
			const char kind = failover ? 'h' : targets[i].kind;
			atomic_fetch_add(&begun[(int)kind], 1);
			note(kind, due, "LATE");
			continue;
		}
		job(number, kept, due);
	}
}

static void *warm_up(void *unused)
{
	int kept = -1;
	atomic_fetch_add(&begun[(int)targets[0].kind], 1);
	while (!over()) {
		if (!ask(targets[0].name, "/h", &way, &kept)) {
			note(targets[0].kind, started, NULL);
			return unused;
		}
		pause_ms(pause_between);
	}
	note(targets[0].kind, started, "NEVER");
	return unused;
}

static void *rage(void *unused)
{
	while (!over())
		storm_on(&storm);
	return unused;
}

static void parse_target(const char *text)
{
	const char *equal = strchr(text, '=');
	const char *slash = strchr(text, '/');
	if (!equal)
		exit(2);
	struct target target = { .kind = equal[1] };
	const char *end = slash && slash < equal ? slash : equal;
	snprintf(target.name, sizeof target.name, "%.*s", (int)(end - text), text);
	snprintf(target.path, sizeof target.path, "%.*s", (int)(equal - end), end);
	for (int i = equal[2] == 'x' ? atoi(equal + 3) : 1; i > 0 && target_count < MOST; i--)
		targets[target_count++] = target;
}

static const struct option options[] = {
	{ 'n', OPTION_INT, &threads },         { 'r', OPTION_REAL, &rate },
	{ 's', OPTION_REAL, &seconds },        { 't', OPTION_INT, &tries },
	{ 'p', OPTION_REAL, &pause_between },  { 'o', OPTION_INT, &way.timeout_ms },
	{ 'c', OPTION_LONG, &jobs_in_all },    { 'g', OPTION_STORM, &storm },
	{ 'k', OPTION_FLAG, &way.kept },       { 'b', OPTION_FLAG, &way.nonblocking },
	{ 'm', OPTION_FLAG, &way.post },       { '1', OPTION_FLAG, &way.one_way },
	{ 'l', OPTION_FLAG, &way.log },        { 'q', OPTION_FLAG, &way.forget },
	{ 'E', OPTION_FLAG, &way.asks_first }, { 'e', OPTION_FLAG, &way.listens },
	{ 'f', OPTION_FLAG, &failover },       { 'a', OPTION_FLAG, &all },
	{ 'w', OPTION_FLAG, &warm },           { 'u', OPTION_FLAG, &replies_only },
	{ 'j', OPTION_FLAG, &jitter },         { 'd', OPTION_FLAG, &draws },
	{ 'x', OPTION_FLAG, &way.ends },
};

// Until all threads are done, or should be; what they then have not ended, never ends.
static void play_in_threads(const pthread_attr_t *small)
{
	pthread_t thread[2000];
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], small, warm ? warm_up : work, NULL);
	struct timespec last;
	clock_gettime(CLOCK_REALTIME, &last);
	last.tv_sec += (time_t)(seconds + GRACE);
	for (int i = 0; i < threads; i++)
		pthread_timedjoin_np(thread[i], NULL, &last);
	for (const char *kind = "hdp"; *kind; kind++)
		while (ended[(int)*kind] < begun[(int)*kind])
			note(*kind, started + seconds, "NEVER");
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	if (!read_options(options, sizeof options / sizeof *options, argc, argv))
		return 2;
	way.listens |= way.asks_first;
	for (; optind < argc; optind++)
		parse_target(argv[optind]);
	if (!target_count)
		return 2;
	started = seconds_now();
	pthread_t other;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	if (*storm.target)
		pthread_create(&other, &small, rage, NULL);
	if (threads == 1 && !warm)
		work(NULL); // a program of one thread, as most are
	else
		play_in_threads(&small);
	for (long i = 0; i < line_count && i < LINES; i++)
		printf("%c %.2f %s\n", lines[i].kind, lines[i].milliseconds, lines[i].error);
	return 0;
}
