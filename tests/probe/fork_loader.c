/* SPDX-License-Identifier: MIT */
/*
 * Children of a program whose threads are inside the loader, each of which connects: glibc leaves
 * the loader's lock to a forked child as it was, held perhaps by a thread that the child does not
 * have. Usage: fork_loader CHILDREN
 */
#include "probe.h"

#include <link.h>

static volatile bool over;

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)info, (void)size, (void)data;
	return 0;
}

static void *walk(void *arg)
{
	while (!over)
		dl_iterate_phdr(look, NULL);
	return arg;
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 100, held, stuck = 0;
	uint16_t port = refusing_port(&held);
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, walk, NULL);
	for (int i = 0; i < children && stuck == 0; i++) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			alarm(5);
			attempt(port, NULL);
			_exit(0);
		}
		waitpid(child, &status, 0);
		stuck += status != 0;
	}
	over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("children that did not end: %d\n", stuck);
	return 0;
}
