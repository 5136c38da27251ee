// SPDX-License-Identifier: MIT
/*
 * A client that bounds its retries, as most do, and so multiplies the load of a failing server:
 * threads that make one request after the other, each on a connection of its own and tried up to
 * TRIES times without a pause. Sockets block, with timeouts of a second.
 *
 * Usage: bounded PORT THREADS SECONDS TRIES PAUSE_MS    (a mean pause between requests)
 * Prints "REQUESTS TRIES SERVED".
 */
#include "control.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>

static struct sockaddr_in server = { .sin_family = AF_INET };
static int tries_each;
static long pause_us;
static int64_t until;
static _Atomic(long) requests, tries, served;

/* A request that is told from every other one. */
static int try_once(const char *text, size_t n)
{
	struct timeval timeout = { .tv_sec = 1 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), good;
	char answer[64];

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	tries++;
	good = connect(fd, (struct sockaddr *)&server, sizeof(server)) == 0 &&
	       send(fd, text, n, MSG_NOSIGNAL) == (ssize_t)n &&
	       recv(fd, answer, sizeof(answer), 0) > 0;
	close(fd);
	return good;
}

static void *work(void *number)
{
	unsigned seed = (unsigned)(long)number;

	usleep((useconds_t)((long)rand_r(&seed) % (2 * pause_us + 1)));
	for (long i = 0; now_ns() < until; i++) {
		char text[64];
		size_t n = (size_t)snprintf(text, sizeof(text), "request %ld of thread %ld\n", i,
		                            (long)number);

		requests++;
		for (int try = 0; try < tries_each; try++)
			if (try_once(text, n)) {
				served++;
				break;
			}
		usleep((useconds_t)((long)rand_r(&seed) % (2 * pause_us + 1)));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[1024];
	int n;

	if (argc != 6 || (n = atoi(argv[2])) < 1 || n > 1024) {
		(void)fputs("usage: bounded PORT THREADS SECONDS TRIES PAUSE_MS\n", stderr);
		return 2;
	}
	server.sin_port = htons((uint16_t)atoi(argv[1]));
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	tries_each = atoi(argv[4]);
	pause_us = atol(argv[5]) * 1000;
	until = now_ns() + (int64_t)(atof(argv[3]) * 1e9);
	for (long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)(i + 1)))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld %ld\n", requests, tries, served);
	return 0;
}
