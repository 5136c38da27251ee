/* SPDX-License-Identifier: MIT */
/*
 * Ten thousand threads that come, connect, are refused, and go, fifty at a time: what the shim
 * keeps for a thread must not outlive it, nor grow (HAZARDS 29, 65). Usage: crowds [THREADS]
 */
#include "trap.h"

#define AT_ONCE 50

static uint16_t good, bad;
static int wrong;

static void *come_and_go(void *arg)
{
	bool talks = (uintptr_t)arg % 10 == 0, fails = (uintptr_t)arg % 100 == 1;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char data[4];

	if (talks && strcmp(talk(good), "works") != 0)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
	if (fails && attempt(bad, NULL) != ECONNREFUSED)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
	if (recv(fd, data, 4, MSG_DONTWAIT) >= 0 || close(fd) != 0)
		__atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
	return arg;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 10000, held, maps = 0, fds = 0;
	pthread_attr_t small;

	good = start_answering();
	bad = refusing_port(&held);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int made = 0; made < threads; made += AT_ONCE) {
		pthread_t ids[AT_ONCE];

		for (int i = 0; i < AT_ONCE; i++)
			if (pthread_create(&ids[i], &small, come_and_go,
			                   (void *)(uintptr_t)(made + i)))
				give_up("thread");
		for (int i = 0; i < AT_ONCE; i++)
			pthread_join(ids[i], NULL);
		if (made == threads / 4 / AT_ONCE * AT_ONCE) {
			maps = count_maps();
			fds = count_fds();
		}
	}
	/* The allocator's arenas come and merge as they like. */
	printf("wrong: %d, descriptors grown: %d, mappings grown: %s\n", wrong, count_fds() - fds,
	       count_maps() > maps + 40 ? "yes" : "no");
	return 0;
}
