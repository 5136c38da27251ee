/* SPDX-License-Identifier: MIT */
/*
 * Threads that open and close files, pipes and connections as fast as they can, by libc and past
 * it, so that the same numbers come back as something else at once (HAZARDS 24 to 26): nobody
 * ever gets another's bytes, or an error of something that was there before.
 */
#include "trap.h"

#define THREADS 4

static uint16_t good, bad;
static int wrong, rounds = 1500;

static void check(bool right)
{
	if (!right)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
}

static void close_somehow(int fd, int round)
{
	check((round % 3 == 0 ? syscall(SYS_close, fd) : close(fd)) == 0);
}

static void one(unsigned int number, int round)
{
	char data[16] = "";
	int fds[2];

	switch ((number + round) % 4) {
	case 0:
		check(pipe(fds) == 0 && write(fds[1], &round, 4) == 4 &&
		      read(fds[0], data, 4) == 4 && memcmp(data, &round, 4) == 0);
		close_somehow(fds[0], round);
		close_somehow(fds[1], round);
		break;
	case 1:
		fds[0] = open("/dev/zero", O_RDONLY);
		data[0] = 'x';
		check(read(fds[0], data, 16) == 16 && data[0] == '\0');
		close_somehow(fds[0], round);
		break;
	case 2:
		fds[0] = connected(good);
		check(fds[0] >= 0 && echo(fds[0], "word"));
		close_somehow(fds[0], round);
		break;
	default:
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 &&
		      send(fds[0], "ab", 2, 0) == 2 && recv(fds[1], data, 16, 0) == 2);
		close_somehow(fds[0], round);
		check(recv(fds[1], data, 16, 0) == 0);
		close_somehow(fds[1], round);
		if (round % 64 == 0)
			check(attempt(bad, NULL) == ECONNREFUSED);
	}
}

static void *churn(void *number)
{
	for (int round = 0; round < rounds; round++)
		one((unsigned int)(uintptr_t)number, round);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	int held, before;

	if (argc > 1)
		rounds = atoi(argv[1]);
	good = start_answering();
	bad = refusing_port(&held);
	before = count_fds();
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, churn, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("wrong: %d, descriptors left: %d\n", wrong, count_fds() - before);
	return 0;
}
