/* SPDX-License-Identifier: MIT */
/*
 * A scanner: connects to many destinations, each for the first time, from several threads and
 * forked children, blocking and not; every other one refuses. All the while one program part keeps
 * a healthy conversation and another loops over a dead port. Says what each destination answered
 * and whether memory grew.
 * Usage: scan DESTINATIONS [ROUNDS]
 */
#include "tallies.h"

#define THREADS  3
#define CHILDREN 2
#define SERVED   7000
#define DEAD     7001

struct scan {
	_Atomic(int) next, answered, refused, other, echoes, bad_echoes, storm, ended;
};

static struct scan *scan;
static int targets, rounds = 1, first;
static uint16_t healthy, dead;

static struct sockaddr_in destination(int i)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(i & 1 ? DEAD : SERVED) };

	to.sin_addr.s_addr = htonl(0x7f100000u + (uint32_t)(first + i));
	return to;
}

/* The outcome of one connect, waited for as an event loop would where it does not block. */
static int outcome(const struct sockaddr_in *to, bool waits)
{
	struct linger hard = { .l_onoff = 1, .l_linger = 0 };
	int fd = socket(AF_INET, SOCK_STREAM | (waits ? 0 : SOCK_NONBLOCK), 0), err = 0;
	struct pollfd entry = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(err);

	if (fd < 0)
		give_up("socket");
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) != 0) {
		err = errno;
		if (err == EINPROGRESS && poll(&entry, 1, 20000) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	}
	close(fd);
	return err;
}

static void *run(void *unused)
{
	for (int i; (i = scan->next++) < targets * rounds;) {
		struct sockaddr_in to = destination(i % targets);
		int err = outcome(&to, i & 2);

		if (err == 0 && !(i & 1))
			scan->answered++;
		else if (err == ECONNREFUSED && i & 1)
			scan->refused++;
		else
			scan->other++;
	}
	return unused;
}

/* Small talk, a connection each: what must go on as if nothing were. */
static void *talk(void *unused)
{
	while (!scan->ended) {
		int fd = connected(healthy);

		scan->echoes++;
		if (fd < 0 || !echo(fd, "word"))
			scan->bad_echoes++;
		close(fd);
		pause_ms(20);
	}
	return unused;
}

/* The loop that the shim is there for. */
static void *loop(void *unused)
{
	while (!scan->ended) {
		attempt(dead, NULL);
		scan->storm++;
	}
	return unused;
}

static long private_kb(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "re");
	char line[256];
	long sum = 0, kb;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "Private_Clean: %ld", &kb) == 1 ||
		    sscanf(line, "Private_Dirty: %ld", &kb) == 1)
			sum += kb;
	if (file != NULL)
		fclose(file);
	return sum;
}

static void scanners(void)
{
	pthread_t threads[THREADS];
	pid_t children[CHILDREN];

	for (int i = 0; i < CHILDREN; i++)
		if ((children[i] = fork()) == 0) {
			run(NULL);
			_exit(0);
		}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CHILDREN; i++)
		waitpid(children[i], NULL, 0);
}

/* A child that takes whatever comes. */
static void serve_all(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(SERVED) };
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (struct sockaddr *)&any, sizeof(any)) != 0 ||
	    listen(listener, 1024) != 0)
		give_up("listen");
	start_server_on(listener, SERVER_CLOSE, NULL);
	close(listener);
}

int main(int argc, char **argv)
{
	pthread_t talker, looper;
	int whole = atoi(argv[1]), held;
	long before, opened;

	if (argc > 2)
		rounds = atoi(argv[2]);
	if (!private_network())
		return PROBE_CANNOT;
	scan = shared_memory(sizeof(*scan));
	serve_all();
	healthy = start_server(SERVER_ECHO, NULL);
	dead = refusing_port(&held);

	/* What the first destinations touch for the first time is no growth. */
	targets = 2000;
	first = -targets;
	scanners();
	first = 0;
	pthread_create(&talker, NULL, talk, NULL);
	pthread_create(&looper, NULL, loop, NULL);
	pause_ms(500);
	before = private_kb();
	opened = kernel_connects();
	scan->next = scan->answered = scan->refused = scan->other = 0;
	targets = whole;
	scanners();
	printf("answered: %d\nrefused: %d\nother: %d\n", scan->answered, scan->refused,
	       scan->other);
	printf("memory: %s\n", private_kb() - before < 256 ? "the same" : "more");
	scan->ended = 1;
	pthread_join(talker, NULL);
	pthread_join(looper, NULL);
	tell_port("talk", healthy);
	tell_port("storm", dead);
	tell_all();
	printf("# probe: private_kb=%ld storm=%d echoes=%d opened=%ld\n", private_kb(), scan->storm,
	       scan->echoes, kernel_connects() - opened);
	printf("conversation: %s\n",
	       scan->echoes > 0 && scan->bad_echoes == 0 ? "every word" : "broken");
	fflush(stdout);
	_exit(0);
}
