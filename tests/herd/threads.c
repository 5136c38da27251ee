/* SPDX-License-Identifier: MIT */
/*
 * A herd within one process: so many threads that each try until they are answered. Usage:
 *
 *   threads PORT PAUSE_MS COUNT
 *
 * Exits 0 once all of them are.
 */
#include "../bench/bench.h"

#include <pthread.h>

#define STACK 65536

static struct sockaddr_in server;
static useconds_t pause_us;

static int try_once(void)
{
	int fd = (int)MUST(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	char reply;
	int answered = connect(fd, (const struct sockaddr *)&server, sizeof(server)) == 0 &&
	               send(fd, "?", 1, MSG_NOSIGNAL) == 1 && recv(fd, &reply, 1, 0) == 1;

	close(fd);
	return answered;
}

static void *loop(void *unused)
{
	while (!try_once())
		usleep(pause_us);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t *threads;
	long count;

	if (argc != 4) {
		fputs("usage: threads PORT PAUSE_MS COUNT\n", stderr);
		return 2;
	}
	server = loopback((uint16_t)number(argv[1], 1));
	pause_us = (useconds_t)number(argv[2], 0) * 1000;
	count = number(argv[3], 1);
	threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (long i = 0; i < count; i++)
		if (!threads || pthread_create(&threads[i], &attributes, loop, NULL))
			die("pthread_create");
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
