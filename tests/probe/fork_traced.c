/* SPDX-License-Identifier: MIT */
/*
 * Children forked while other threads walk the stack for their records: the loader's lock may be
 * held at that moment, and whoever waits for it in the child waits for ever.
 */
#include "probe.h"

#include <pthread.h>

#define FORKS  1500
#define ENOUGH 15000 /* ms after which fewer will do */
#define LONG   5000  /* ms that a child may take */

static uint16_t port;

static void *loop(void *arg)
{
	(void)arg;
	for (;;)
		attempt(port, NULL);
	return NULL;
}

/* True if the child came to an end by itself. */
static bool ends(pid_t child)
{
	for (int64_t until = now_ms() + LONG; now_ms() < until; pause_ms(1))
		if (waitpid(child, NULL, WNOHANG) == child)
			return true;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return false;
}

int main(void)
{
	int held, hung = 0;
	int64_t until;
	pthread_t thread;

	port = refusing_port(&held);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, loop, NULL);
	pause_ms(50);
	until = now_ms() + ENOUGH;
	for (int i = 0; i < FORKS && hung == 0 && now_ms() < until; i++) {
		pid_t child = fork();

		if (child == 0) {
			for (int k = 0; k < 3; k++)
				attempt(port, NULL);
			_exit(0);
		}
		hung += !ends(child);
	}
	printf("children that hung: %d\n", hung);
	fflush(stdout);
	_exit(0);
}
