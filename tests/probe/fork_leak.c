/* SPDX-License-Identifier: MIT */
/*
 * One thread forks again and again while others' retries are refused, each with a record or a look
 * at where a parked connect would go. A child that never execs must find nothing that the program
 * has not opened: what it has, it has for life.
 */
#include "probe.h"

#define CHILDREN 500
#define THREADS  3

static struct sockaddr_in bad;
static volatile bool over;

static void *retry(void *arg)
{
	int flags = arg ? SOCK_NONBLOCK : 0;

	while (!over) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);

		if (connect(fd, (struct sockaddr *)&bad, sizeof(bad)) == 0)
			give_up("connect");
		close(fd);
	}
	return NULL;
}

/* Only datagram sockets: the program has none, and its own sockets are the children's too. */
static int count_datagram_sockets(void)
{
	int n = 0;

	for (int fd = 0; fd < 64; fd++) {
		int type = 0;
		socklen_t len = sizeof(type);

		n += getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_DGRAM;
	}
	return n;
}

int main(void)
{
	pthread_t threads[THREADS];
	int held, leaked = 0;

	bad = loopback(refusing_port(&held));
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, retry, i ? NULL : &held);
	for (int i = 0; i < CHILDREN; i++) {
		int status;
		pid_t child = fork();

		if (child < 0)
			give_up("fork");
		if (child == 0)
			_exit(count_datagram_sockets());
		if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
			give_up("child");
		leaked += WEXITSTATUS(status) != 0;
	}
	over = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (leaked)
		printf("children: %d of %d have a socket too many\n", leaked, CHILDREN);
	printf("%s\n", leaked ? "leaked" : "clean");
	return 0;
}
