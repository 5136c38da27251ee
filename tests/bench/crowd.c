/* SPDX-License-Identifier: MIT */
/*
 * Threads on one destination, each: connect, send a request, read the reply, close. Usage:
 *
 *   crowd server PORT			serves on loopback until stdin ends; run it bare
 *   crowd PORT ROUNDS THREADS		ROUNDS cycles in each thread, once
 *   crowd PORT ROUNDS THREADS worker	the same per byte on stdin, answering ns per cycle (see
 *					pair.c)
 */
#include "bench.h"

#include <pthread.h>

#define SERVERS 8

static struct sockaddr_in destination;
static pthread_barrier_t begin, end;
static long rounds, clients;

static void *serve(void *listener)
{
	char request[64];

	for (;;) {
		int fd = accept(*(int *)listener, NULL, NULL);

		if (fd < 0)
			continue;
		if (recv(fd, request, sizeof(request), 0) > 0)
			send(fd, "pong", 4, MSG_NOSIGNAL);
		close(fd);
	}
	return NULL;
}

static int server(uint16_t port)
{
	int listener = raw_listener(port, &destination);
	pthread_t thread;
	char c;

	for (int i = 0; i < SERVERS; i++)
		if (pthread_create(&thread, NULL, serve, &listener))
			die("pthread_create");
	while (read(STDIN_FILENO, &c, 1) == 1)
		;
	return 0;
}

static void cycle(void)
{
	int fd = (int)MUST(socket(AF_INET, SOCK_STREAM, 0));
	char reply[4];

	MUST(connect(fd, (struct sockaddr *)&destination, sizeof(destination)));
	MUST(send(fd, "ping", 4, MSG_NOSIGNAL));
	if (recv(fd, reply, sizeof(reply), MSG_WAITALL) != 4 || memcmp(reply, "pong", 4) != 0)
		die("wrong reply");
	MUST(close(fd));
}

static void *client(void *unused)
{
	for (;;) {
		pthread_barrier_wait(&begin);
		for (long i = 0; i < rounds; i++)
			cycle();
		pthread_barrier_wait(&end);
	}
	return unused;
}

static double batch(void)
{
	int64_t start = now_ns();

	pthread_barrier_wait(&begin);
	pthread_barrier_wait(&end);
	return (double)(now_ns() - start) / (double)(rounds * clients);
}

int main(int argc, char **argv)
{
	pthread_t thread;
	double each;
	char go;

	if (argc == 3 && strcmp(argv[1], "server") == 0)
		return server((uint16_t)number(argv[2], 1));
	if (argc < 4) {
		fputs("usage: crowd server PORT | crowd PORT ROUNDS THREADS [worker]\n", stderr);
		return 2;
	}
	destination = loopback((uint16_t)number(argv[1], 1));
	rounds = number(argv[2], 1);
	clients = number(argv[3], 1);
	pthread_barrier_init(&begin, NULL, (unsigned int)clients + 1);
	pthread_barrier_init(&end, NULL, (unsigned int)clients + 1);
	for (long i = 0; i < clients; i++)
		if (pthread_create(&thread, NULL, client, NULL))
			die("pthread_create");
	if (argc == 4) {
		batch();
		return 0;
	}
	while (read(STDIN_FILENO, &go, 1) == 1) {
		each = batch();
		MUST(write(STDOUT_FILENO, &each, sizeof(each)));
	}
	return 0;
}
