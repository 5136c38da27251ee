/* SPDX-License-Identifier: MIT */
/*
 * Threads connect to a healthy server and to a port that refuses while a child, which has the same
 * region mapped, writes random words and edge values all over it, as another process of the user
 * could. Every call must come back in time, with an error that connects have, and the healthy
 * server must be in reach at last. Usage: corrupted SECONDS
 */
#include "probe.h"

#include "tallies.h"

#define LATE 5000 /* ms; the hold is a hundredth of it */

static uint16_t good, bad;
static volatile bool over;
static int late, wrong, works;

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

static int64_t any_value(uint64_t *dice)
{
	static const int64_t edges[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT32_MAX, UINT32_MAX };

	switch (draw(dice) % 4) {
	case 0:
		return edges[draw(dice) % 7];
	case 1:
		return now_ms() * 1000000 + (int64_t)(draw(dice) % 2000000000) - 1000000000;
	default:
		return (int64_t)draw(dice);
	}
}

/* For ever: all over, and over what is in use. */
static void corrupt(struct region *region)
{
	uint64_t dice = (uint64_t)getpid() << 20 | 1;
	size_t words = sizeof(*region) / sizeof(cell64);
	size_t of_slot = sizeof(region->first.destinations[0]) / sizeof(cell64);

	for (;;) {
		((cell64 *)region)[draw(&dice) % words] = any_value(&dice);
		for (int i = 0; i < REGION_CHUNK; i++)
			if (region->first.keys[i] != 0 && draw(&dice) % 4 == 0) {
				cell64 *slot = (cell64 *)&region->first.destinations[i];

				slot[draw(&dice) % of_slot] = any_value(&dice);
			}
		if (draw(&dice) % 64 == 0)
			memset(region->first.destinations[draw(&dice) % REGION_CHUNK].name, 'x',
			       REGION_NAME);
	}
}

static void count_end(const char *what, int64_t start, int err)
{
	if (now_ms() - start > LATE) {
		__atomic_add_fetch(&late, 1, __ATOMIC_RELAXED);
		printf("%s: %lld ms, error %d\n", what, (long long)(now_ms() - start), err);
	}
	if (err != 0 && err != ECONNREFUSED && err != ETIMEDOUT && err != EHOSTUNREACH &&
	    err != ECONNRESET && err != ENETUNREACH && err != ENETDOWN && err != EPERM &&
	    err != EPIPE && err != EADDRNOTAVAIL) {
		__atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
		printf("an error that connects do not have: %s\n", error_name(err));
	}
}

static void *block(void *arg)
{
	while (!over) {
		int64_t start = now_ms();

		count_end("a connect that blocks", start, attempt(bad, NULL));
		pause_ms(1);
	}
	return arg;
}

static void *poll_for(void *arg)
{
	struct sockaddr_in to = loopback(bad);

	while (!over) {
		int64_t start = now_ms();
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), err = 0;
		struct pollfd entry = { .fd = fd, .events = POLLOUT };
		socklen_t len = sizeof(err);

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0 && errno != EINPROGRESS)
			err = errno;
		else if (poll(&entry, 1, LATE * 2) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
		count_end("a connect that does not block", start, err);
		close(fd);
		pause_ms(1);
	}
	return arg;
}

static void *exchange(void *arg)
{
	while (!over) {
		int64_t start = now_ms();
		int fd = connected(good), err = fd < 0 ? errno : 0;

		if (fd >= 0 && echo(fd, "hello"))
			__atomic_add_fetch(&works, 1, __ATOMIC_RELAXED);
		count_end("an exchange", start, err);
		if (fd >= 0)
			close(fd);
		pause_ms(1);
	}
	return arg;
}

int main(int argc, char **argv)
{
	int seconds = argc > 1 ? atoi(argv[1]) : 2, held, fd = -1;
	void *(*const work[])(void *) = { block, poll_for, exchange, exchange };
	struct region *region = (struct region *)own_region();
	int64_t until;
	bool well;
	pthread_t threads[4];
	pid_t child;

	bad = refusing_port(&held);
	good = start_server(SERVER_ECHO, NULL);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (region == NULL)
			pause();
		corrupt(region);
	}
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work[i], NULL);
	pause_ms(seconds * 1000);
	kill(child, SIGKILL);
	over = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	waitpid(child, NULL, 0);
	until = now_ms() + LATE;
	while (fd < 0 && now_ms() < until)
		fd = connected(good);
	well = fd >= 0 && echo(fd, "hello");
	if (!well)
		printf("%s: %s\n", fd < 0 ? "no connect in time" : "no echo", error_name(errno));
	printf("late: %d, wrong: %d, meanwhile: %s, afterwards: %s\n", late, wrong,
	       works > 0 ? "some" : "none", well ? "works" : "broken");
	return 0;
}
