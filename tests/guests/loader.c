/* SPDX-License-Identifier: MIT */
/*
 * Opens the shim at run time, as a plug-in system or a badly written wrapper does: the program's
 * own calls were bound to libc long before, so it must go on as ever, whatever is opened, closed
 * and forked. Called by hand, through dlsym, the hook works.
 *
 * Usage: loader LIBRARY|- local|global     "-": the same without it
 */
#include "../probe/probe.h"

#include <dlfcn.h>

#define CYCLES   20
#define ATTEMPTS 40

enum { REFUSES = 7000, ANSWERS = 7001 };

static int (*dial)(int fd, const struct sockaddr *to, socklen_t len) = connect;

static void talk(const char *when)
{
	int fd = connected(ANSWERS);
	bool well = fd >= 0 && echo(fd, "a word\n");

	close(fd);
	printf("%s: %s\n", when, well && attempt(REFUSES, NULL) == ECONNREFUSED ? "well" : "wrong");
}

static void storm(void)
{
	struct sockaddr_in to = loopback(REFUSES);
	int refused = 0;

	for (int i = 0; i < ATTEMPTS; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		refused +=
		    dial(fd, (struct sockaddr *)&to, sizeof(to)) < 0 && errno == ECONNREFUSED;
		close(fd);
	}
	printf("refused: %d of %d\n", refused, ATTEMPTS);
}

static void *in_thread(void *library)
{
	struct sockaddr_in to = loopback(ANSWERS);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (dial(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
		puts("wrong in a thread");
	close(fd);
	if (library != NULL)
		dlclose(library);
	return NULL; /* the thread ends after the library is closed */
}

static void use(const char *name, int flags)
{
	void *library = strcmp(name, "-") == 0 ? NULL : dlopen(name, flags);
	void *found = library ? dlsym(library, "connect") : NULL;
	pthread_t thread;

	if (strcmp(name, "-") != 0 && found == NULL)
		printf("cannot be opened: %s\n", dlerror());
	if (found != NULL)
		memcpy(&dial, &found, sizeof(dial));
	pthread_create(&thread, NULL, in_thread, library);
	pthread_join(thread, NULL);
}

static void fork_and_talk(void)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		talk("child");
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	printf("child: %s\n", status == 0 ? "ended" : "died");
}

int main(int argc, char **argv)
{
	int flags = argc > 2 && strcmp(argv[2], "global") == 0 ? RTLD_NOW | RTLD_GLOBAL
	                                                       : RTLD_LAZY | RTLD_LOCAL;
	int fds, maps;

	if (argc < 3)
		return 2;
	talk("before");
	use(argv[1], flags);
	talk("opened and closed");
	fork_and_talk();
	storm();
	fds = count_fds();
	maps = count_maps();
	for (int i = 0; i < CYCLES; i++)
		use(argv[1], flags);
	printf("descriptors more: %d\n", count_fds() - fds);
	printf("mappings: %s\n", count_maps() - maps < CYCLES / 2 ? "few more" : "more each time");
	talk("after");
	fork_and_talk();
	return 0;
}
