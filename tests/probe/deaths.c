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
#define MT      1000 /* of a token */

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

/* One is stopped at any instruction: true if the others go on. */
static bool others_go_on(const struct region *region, pid_t stopped)
{
	int64_t before, end = now_ms() + 5000;

	kill(stopped, SIGSTOP);
	waitpid(stopped, NULL, WUNTRACED);
	before = atomic_load(&region->tally.attempts);
	while (atomic_load(&region->tally.attempts) < before + 10 && now_ms() < end)
		pause_ms(1);
	return atomic_load(&region->tally.attempts) >= before + 10;
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

int main(int argc, char **argv)
{
	pid_t workers[WORKERS];
	const struct region *region = own_region();
	int kills = argc > 2 ? atoi(argv[2]) : 200, held, status = 0, talks = 0, wrong = 0,
	    stuck = 0;
	uint64_t dice = (uint64_t)now_ms() | 1;
	long before, connects, first, most;
	int64_t began;

	if (argc > 2 && strcmp(argv[1], "worker") == 0)
		work((uint16_t)kills);
	if (argc > 2 && strcmp(argv[1], "fresh") == 0)
		return until_one_goes((uint16_t)kills);
	execs = argc > 1 && strcmp(argv[1], "exec") == 0;
	if (!private_network())
		return PROBE_CANNOT;
	if (region == NULL)
		give_up("no shared budget");
	bad = refusing_port(&held);
	good = start_server(SERVER_ECHO, NULL);
	before = kernel_connects();
	began = now_ms();
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
		if (i % 50 == 25)
			stuck += !others_go_on(region, workers[which]);
		kill(workers[which], SIGKILL);
		waitpid(workers[which], &status, 0);
		wrong += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
		workers[which] = start("worker");
		if (i % 50 == 0) {
			int fd = connected(good);

			talks += fd >= 0 && echo(fd, "hello");
			close(fd);
			wrong += !in_range(region);
		}
	}
	for (int i = 0; i < WORKERS; i++) {
		kill(workers[i], SIGKILL);
		waitpid(workers[i], NULL, 0);
	}
	connects = kernel_connects() - before - (kills + 49) / 50;
	most = CAPACITY + FLOOR * (now_ms() - began + 999) / 1000 + (now_ms() - began) / PROBE + 2;
	first = region->tally.attempts - region->tally.retries;
	printf("killed: %d, otherwise ended or out of range: %d, exchanges: %s\n", kills, wrong,
	       talks == (kills + 49) / 50 ? "all" : "not all");
	printf("while one stands still: %s\n", stuck ? "the others do, too" : "the others go on");
	printf("# left the machine: %ld, first tries: %ld, tokens and probes: %ld, refused: %ld\n",
	       connects, first, most, (long)region->tally.refused);
	printf("more than the rule allows: %s\n", connects > first + most ? "yes" : "no");
	if (execs) {
		waitpid(start("fresh"), &status, 0);
		wrong = status;
	} else {
		wrong = until_one_goes(bad);
	}
	printf("a fresh retry: %s\n", wrong == 0 ? "goes" : "is locked out");
	return 0;
}
