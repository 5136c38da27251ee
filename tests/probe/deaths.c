/* SPDX-License-Identifier: MIT */
/*
 * Processes that share a budget loop on a port that refuses, and are killed one after the other, at
 * any instruction; each is replaced. Some stand still before. Meanwhile and afterwards the budget
 * must be in its range, a healthy server in reach, and a fresh process must get its retry; and what
 * left the machine must be first tries, tokens and probes. Usage: deaths fork|exec KILLS    fork:
 * children share the mapping; exec: programs of their own do
 */
#include "probe.h"

#include "tallies.h"

#define WORKERS 3
#define EVERY   50 /* kills: an exchange with the healthy server, and one that stands still */

/* As the driver's policy has it. */
#define CAPACITY 10
#define FLOOR    20  /* a second */
#define PROBE    200 /* ms */

static uint16_t good, bad;
static bool execs;

static void work(uint16_t port)
{
	for (;;)
		attempt(port, NULL);
}

/* A child that does one thing for ever, or once. */
static pid_t start(const char *what)
{
	pid_t child = fork();

	if (child < 0)
		give_up("fork");
	if (child > 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (execs) {
		char port[8];

		snprintf(port, sizeof(port), "%u", bad);
		execl("/proc/self/exe", "deaths", what, port, NULL);
		_exit(127);
	}
	if (strcmp(what, "worker") == 0)
		work(bad);
	_exit(0);
}

/* Retries until one leaves the machine; the exit status says whether one did in time. */
static int until_one_goes(uint16_t port)
{
	int64_t end = now_ms() + 20 * PROBE + 2000;
	long before = kernel_connects();

	attempt(port, NULL); /* a first try, maybe */
	before = kernel_connects() > before ? kernel_connects() : before;
	while (now_ms() < end) {
		attempt(port, NULL);
		if (kernel_connects() > before)
			return 0;
		pause_ms(5);
	}
	return 1;
}

static struct tally counted(const struct region *region)
{
	struct tally all;

	region_sum(region, &all);
	return all;
}

/* One is stopped at any instruction: true if the others go on. */
static bool others_go_on(const struct region *region, pid_t stopped)
{
	int64_t before, end = now_ms() + 5000;

	kill(stopped, SIGSTOP);
	waitpid(stopped, NULL, WUNTRACED);
	before = counted(region).attempts;
	while (counted(region).attempts < before + 10 && now_ms() < end)
		pause_ms(1);
	return counted(region).attempts >= before + 10;
}

/* Tokens within what is counted against, of every bucket. */
static bool in_range(const struct region *region)
{
	const struct bucket *buckets[1 + REGION_CHUNK] = { &region->process };

	for (int i = 0; i < REGION_CHUNK; i++)
		buckets[1 + i] = &region->first.destinations[i].budget.bucket;
	for (int i = 0; i <= REGION_CHUNK; i++) {
		uint64_t holding = (uint64_t)atomic_load(&buckets[i]->holding);

		if ((holding & UINT32_MAX) > holding >> 32)
			return false;
	}
	return true;
}

struct deaths {
	int wrong; /* ended otherwise than killed, or out of range */
	int talks; /* with the healthy server */
	int stuck; /* while one stood still */
};

/* Kills workers, each at any instruction, and puts another in its place; all are dead at the end.
 */
static struct deaths kill_workers(const struct region *region, int kills)
{
	uint64_t dice = (uint64_t)now_ms() | 1;
	struct deaths seen = { 0 };
	pid_t workers[WORKERS];
	int status = 0;

	for (int i = 0; i < WORKERS; i++)
		workers[i] = start("worker");
	for (int i = 0; i < kills; i++) {
		struct timespec a_moment = { 0 };
		int which;

		dice ^= dice << 13;
		dice ^= dice >> 7;
		dice ^= dice << 17;
		which = (int)(dice % WORKERS);
		a_moment.tv_nsec = (long)(dice >> 8) & 0x3fffff; /* up to 4 ms */
		nanosleep(&a_moment, NULL);
		if (i % EVERY == EVERY / 2)
			seen.stuck += !others_go_on(region, workers[which]);
		kill(workers[which], SIGKILL);
		waitpid(workers[which], &status, 0);
		seen.wrong += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
		workers[which] = start("worker");
		if (i % EVERY == 0) {
			int fd = connected(good);

			seen.talks += fd >= 0 && echo(fd, "hello");
			close(fd);
			seen.wrong += !in_range(region);
		}
	}
	for (int i = 0; i < WORKERS; i++) {
		kill(workers[i], SIGKILL);
		waitpid(workers[i], NULL, 0);
	}
	return seen;
}

/* The exit status of until_one_goes(), of a fresh process where they are programs of their own. */
static int fresh_retry(void)
{
	int status = -1;

	if (!execs)
		return until_one_goes(bad);
	waitpid(start("fresh"), &status, 0);
	return status;
}

int main(int argc, char **argv)
{
	const struct region *region = own_region();
	int kills = argc > 2 ? atoi(argv[2]) : 200, held, exchanges = (kills + EVERY - 1) / EVERY;
	long before, connects, first, most;
	struct deaths seen;
	int64_t began;

	if (argc > 2 && strcmp(argv[1], "worker") == 0)
		work((uint16_t)kills);
	if (argc > 2 && strcmp(argv[1], "fresh") == 0)
		return until_one_goes((uint16_t)kills);
	execs = argc > 1 && strcmp(argv[1], "exec") == 0;
	/* A share is of one network namespace: who looks into it must have begun in this one. */
	if (argc == 3 && !private_network())
		return PROBE_CANNOT;
	if (argc == 3) {
		execl("/proc/self/exe", argv[0], argv[1], argv[2], "inside", NULL);
		give_up("exec");
	}
	if (region == NULL)
		give_up("no shared budget");
	bad = refusing_port(&held);
	good = start_server(SERVER_ECHO, NULL);
	before = kernel_connects();
	began = now_ms();
	seen = kill_workers(region, kills);
	connects = kernel_connects() - before - exchanges;
	most = CAPACITY + FLOOR * (now_ms() - began + 999) / 1000 + (now_ms() - began) / PROBE + 2;
	first = counted(region).attempts - counted(region).retries;
	printf("killed: %d, otherwise ended or out of range: %d, exchanges: %s\n", kills,
	       seen.wrong, seen.talks == exchanges ? "all" : "not all");
	printf("while one stands still: %s\n",
	       seen.stuck ? "the others do, too" : "the others go on");
	printf("# left the machine: %ld, first tries: %ld, tokens and probes: %ld, refused: %ld\n",
	       connects, first, most, (long)counted(region).refused);
	printf("more than the rule allows: %s\n", connects > first + most ? "yes" : "no");
	printf("a fresh retry: %s\n", fresh_retry() == 0 ? "goes" : "is locked out");
	return 0;
}
