/* SPDX-License-Identifier: MIT */
/*
 * Processes that share a budget loop on a server that is down, and come back by the ramp. Many are
 * killed, or stopped, at the very moment in which what the ramp let go is unanswered. Whatever they
 * take with them, it goes on: no step lasts while others are refused for it, those that are left
 * come back, and so does one that begins when all are dead. Usage: ramp_deaths KILLS
 */
#include "probe.h"

#include "tallies.h"

#define WORKERS   64
#define PAUSE     10    /* ms between their tries */
#define DOWN      1400  /* ms: more than a second is an outage, and no blip */
#define ANSWER    30    /* ms that the server takes */
#define SOON      10000 /* ms: what takes a healthy ramp a second */
#define STEP_LONG 600   /* ms: a step lasts 125 */

/* The words of the ramp, see shim/budget/ramp.c. */
#define LIMIT   0x7ff /* how many may go; 0 = it is off */
#define BEGAN   24
#define UNIT    20
#define WENT_AT 32 /* behind those that failed and were answered */

static struct {
	int kills, held; /* of them: while somebody had gone and not ended */
	int stopped;     /* rounds in which many were, likewise */
	int wrong, stands, stuck;
} seen;

static const uint16_t port = 7007; /* in a network of our own */
static int listener;
static const struct region *region;
static pid_t workers[WORKERS];
static volatile char *back; /* a byte for each that was answered */

/* A port that was asked for stays the socket's own while it does not listen. */
static void start_listening(void)
{
	struct sockaddr_in address = loopback(port);
	const int yes = 1; /* connections of before are still there when it listens again */

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 128) != 0)
		give_up("listen");
}

static void serve_slowly(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int peer = accept(listener, NULL, NULL);
		char word[64];

		if (peer < 0) {
			pause_ms(1); /* it is down */
			continue;
		}
		if (fork() == 0) {
			ssize_t n;

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			n = read(peer, word, sizeof(word));
			pause_ms(ANSWER);
			if (n > 0)
				(void)!send(peer, word, (size_t)n, MSG_NOSIGNAL);
			_exit(0);
		}
		close(peer);
	}
}

/* True if an answer came. */
static bool ask(void)
{
	int fd = connected(port);
	bool came = fd >= 0 && echo(fd, "hello");

	if (fd >= 0)
		close(fd);
	return came;
}

static pid_t start(void)
{
	pid_t child = fork();

	if (child < 0)
		give_up("fork");
	if (child == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

static void start_worker(int which)
{
	back[which] = 0;
	workers[which] = start();
	if (workers[which] != 0)
		return;
	while (!ask())
		pause_ms(PAUSE);
	back[which] = 1;
	for (;;)
		pause();
}

static void end_worker(int which)
{
	int status;

	kill(workers[which], SIGKILL);
	waitpid(workers[which], &status, 0);
	seen.wrong += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
	seen.kills++;
}

/* Twenty answers in a row, soon, of one that begins now. */
static bool one_comes_back(void)
{
	int64_t end = now_ms() + SOON;
	int row = 0, status;
	pid_t child = start();

	if (child == 0) {
		while (row < 20 && now_ms() < end)
			row = ask() ? row + 1 : 0;
		_exit(row < 20);
	}
	waitpid(child, &status, 0);
	return status == 0;
}

static uint64_t draw(void)
{
	static uint64_t dice = 88172645463325252u;

	dice ^= dice << 13;
	dice ^= dice >> 7;
	return dice ^= dice << 17;
}

static const struct ramp *ramp(void)
{
	static const struct ramp none;
	const struct destination *slot = slot_named(region, "127.0.0.1:7007");

	return slot ? &slot->budget.ramp : &none;
}

/* In ms. */
static int64_t age_of(int64_t step)
{
	struct timespec now;
	uint64_t units;

	clock_gettime(CLOCK_MONOTONIC, &now);
	units = ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) >> UNIT;
	return (int64_t)((units - ((uint64_t)step >> BEGAN)) << UNIT) / 1000000;
}

static bool is_held(void)
{
	uint64_t counts = (uint64_t)atomic_load(&ramp()->counts);
	int64_t step = atomic_load(&ramp()->step);

	return (step & LIMIT) != 0 && age_of(step) < STEP_LONG &&
	       (counts >> WENT_AT & 0xffff) > (counts & 0xffff) + (counts >> 16 & 0xffff);
}

static int64_t all_refused(void)
{
	struct tally all;

	region_sum(region, &all);
	return all.refused;
}

/* Whether a step goes on and on while others are refused for it. */
static bool stands(void)
{
	static int64_t step, refused;
	int64_t is = atomic_load(&ramp()->step);

	if (is != step || (is & LIMIT) == 0 || age_of(is) < STEP_LONG / 2) {
		step = is;
		refused = all_refused();
	}
	return (step & LIMIT) != 0 && age_of(step) > STEP_LONG && all_refused() - refused > 20 &&
	       atomic_load(&ramp()->step) == step;
}

/* In an outage: one after the other, at any instruction. */
static void kill_some(void)
{
	int64_t end = now_ms() + DOWN;

	while (now_ms() < end) {
		int which = (int)(draw() % WORKERS);

		pause_ms((int)(draw() % 64));
		end_worker(which);
		start_worker(which);
	}
}

static int missing(void)
{
	int count = 0;

	for (int i = 0; i < WORKERS; i++)
		count += workers[i] > 0 && !back[i];
	return count;
}

/* Until at most so many are not back. */
static void wait_for(int left)
{
	int64_t end = now_ms() + SOON;

	while (missing() > left && now_ms() < end) {
		seen.stands += stands();
		pause_ms(1);
	}
	seen.stuck += missing() > left;
}

/* Every second of those that are not back, whenever a step is held. */
static void kill_many(void)
{
	for (int i = 0; i < WORKERS; i++) {
		if (workers[i] < 0 || back[i] || draw() & 1)
			continue;
		end_worker(i);
		workers[i] = -1;
		seen.held++;
	}
}

static void stop_many(void)
{
	for (int i = 0; i < WORKERS / 2; i++)
		kill(workers[i], SIGSTOP);
	for (int i = 0; i < WORKERS / 2; i++)
		waitpid(workers[i], NULL, WUNTRACED);
	seen.stopped++;
	wait_for(WORKERS / 2);
	for (int i = 0; i < WORKERS / 2; i++)
		kill(workers[i], SIGCONT);
}

static void play_round(bool stops)
{
	int64_t end;

	shutdown(listener, SHUT_RDWR);
	for (int i = 0; i < WORKERS; i++)
		start_worker(i);
	kill_some();
	if (listen(listener, 128) != 0)
		give_up("listen");
	end = now_ms() + SOON;
	for (int times = 0; times < (stops ? 1 : 3) && missing() > 0 && now_ms() < end; times++) {
		while (!is_held() && missing() > 0 && now_ms() < end)
			;
		if (!is_held())
			continue;
		if (stops)
			stop_many();
		else
			kill_many();
		pause_ms(50);
	}
	wait_for(0);
	for (int i = 0; i < WORKERS; i++)
		if (workers[i] > 0)
			end_worker(i);
}

int main(int argc, char **argv)
{
	const int kills = argc > 1 ? atoi(argv[1]) : WORKERS;
	bool comes;

	region = own_region();
	if (!private_network())
		return PROBE_CANNOT;
	if (!region)
		give_up("no shared budget");
	back = shared_memory(WORKERS);
	start_listening();
	if (start() == 0)
		serve_slowly();
	for (int i = 0; i < 2 || seen.kills < kills; i++)
		play_round(i & 1);
	comes = one_comes_back();
	printf("# killed: %d, with a step of the ramp held: %d, rounds stopped: %d, a step stood: "
	       "%d\n",
	       seen.kills, seen.held, seen.stopped, seen.stands);
	printf("with a step held: %s killed, %s stopped; ended otherwise: %d\n",
	       seen.held ? "some" : "none", seen.stopped ? "some" : "none", seen.wrong);
	printf("a step that stands still: %s\n", seen.stands ? "yes" : "no");
	printf("those that are left: %s, one with all of them dead: %s\n",
	       seen.stuck ? "are locked out" : "come back", comes ? "comes back" : "is locked out");
	return 0;
}
