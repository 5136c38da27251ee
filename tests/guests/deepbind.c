/* SPDX-License-Identifier: MIT */
/*
 * A program and its plug-in, loaded with RTLD_DEEPBIND, hand connections to each other: of each the
 * shim sees one half, and the numbers come back for other sockets without a close.
 *
 * Usage: deepbind PLUG-IN host|plug-in|storm
 */
#include "../probe/probe.h"

#include <dlfcn.h>

#define TURNS    60
#define ATTEMPTS 40

enum { REFUSES = 7000, ANSWERS = 7001 };

static int (*plug_dial)(uint16_t port);
static bool (*plug_echo)(int fd);
static void (*plug_close)(int fd);

static void *find(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (found == NULL) {
		printf("%s: %s\n", name, dlerror());
		exit(2);
	}
	return found;
}

/* Longer than a gate of the test's policy: what bounds the attempts is the bucket. */
static void rest(void)
{
	usleep(10000);
}

/* The program connects, the plug-in asks and closes; every fourth time the program meets a refusal.
 */
static void host(void)
{
	int well = 0;

	for (int i = 0; i < TURNS; i++, rest()) {
		int fd = connected(ANSWERS);

		well += fd >= 0 && plug_echo(fd);
		plug_close(fd);
		if (i % 4 == 0)
			well += attempt(REFUSES, NULL) == ECONNREFUSED;
	}
	printf("well: %d\n", well);
}

static void plug_in(void)
{
	int well = 0;

	for (int i = 0; i < TURNS; i++, rest()) {
		int fd = plug_dial(ANSWERS);

		well += fd >= 0 && echo(fd, "from the host\n") && plug_echo(fd);
		close(fd);
		if (i % 4 == 0)
			well += plug_dial(REFUSES) < 0 && errno == ECONNREFUSED;
	}
	printf("well: %d\n", well);
}

static void storm(void)
{
	int refused = 0;

	for (int i = 0; i < ATTEMPTS; i++)
		refused += plug_dial(REFUSES) < 0 && errno == ECONNREFUSED;
	printf("refused: %d of %d\n", refused, ATTEMPTS);
}

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) : NULL;
	void *found[] = { find(library, "plug_dial"), find(library, "plug_echo"),
		          find(library, "plug_close") };

	memcpy(&plug_dial, &found[0], sizeof(found[0]));
	memcpy(&plug_echo, &found[1], sizeof(found[1]));
	memcpy(&plug_close, &found[2], sizeof(found[2]));
	if (strcmp(argv[2], "host") == 0)
		host();
	else if (strcmp(argv[2], "plug-in") == 0)
		plug_in();
	else
		storm();
	printf("open: %d\n", count_fds());
	return 0;
}
