/* SPDX-License-Identifier: MIT */
/*
 * Four threads are held for ten seconds each when the server returns and another process of the
 * family talks to it. They must go on before their time, and not all at one instant: each at a
 * random moment of what is left.
 */
#include "probe.h"

#define WAITERS 4

static uint16_t port;
static int64_t released[WAITERS];
static int results[WAITERS];

static void *waiter(void *arg)
{
	int i = *(int *)arg;
	int64_t ms;

	attempt(port, NULL);
	results[i] = spin_until_held(-1, port, &ms);
	released[i] = now_ms();
	return NULL;
}

/* Waits for a byte in the pipe, then is the one whose connection succeeds. */
static pid_t start_scout(int go)
{
	pid_t child = fork();
	char byte;
	int fd;

	if (child != 0)
		return child;
	if (read(go, &byte, 1) != 1)
		_exit(1);
	fd = connected(port);
	_exit(fd >= 0 && echo(fd, "hello") ? 0 : 1);
}

int main(void)
{
	pthread_t threads[WAITERS];
	int numbers[WAITERS], held, go[2], status, good = 0;
	int64_t back, first = INT64_MAX, last = 0;
	pid_t scout;

	port = refusing_port(&held);
	if (pipe(go) != 0)
		give_up("pipe");
	scout = start_scout(go[0]);
	for (int i = 0; i < WAITERS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, waiter, &numbers[i]);
	}
	pause_ms(1000);
	listen(held, 128);
	start_server_on(held, SERVER_ECHO, NULL);
	back = now_ms();
	if (write(go[1], "x", 1) != 1)
		give_up("write");
	waitpid(scout, &status, 0);
	for (int i = 0; i < WAITERS; i++) {
		pthread_join(threads[i], NULL);
		good += results[i] == 0;
		first = released[i] < first ? released[i] : first;
		last = released[i] > last ? released[i] : last;
	}
	printf("scout: %s\n", status == 0 ? "served" : "failed");
	printf("waiters served: %d\n", good);
	if (good > 0) {
		printf("released: %s\n", first - back < 8000 ? "early" : "late");
		printf("instants: %s\n", last - first >= 3 ? "spread" : "the same");
	}
	return 0;
}
