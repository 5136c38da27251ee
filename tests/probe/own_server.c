/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking connects to a unix socket whose server hangs up each time without a word, as event
 * loops do that test themselves (CPython's test_asyncore): the server is in the same process, or in
 * another. Usage: own_server DIRECTORY
 */
#include "probe.h"

#define TIMES 4

static struct sockaddr_un to = { .sun_family = AF_UNIX };

static int listening(const char *directory, const char *name)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(to.sun_path, sizeof(to.sun_path), "%.80s/%s", directory, name);
	unlink(to.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&to, sizeof(to)) != 0 || listen(fd, 8) != 0)
		give_up("listen");
	return fd;
}

static void hang_up(int listener)
{
	close(accept(listener, NULL, NULL));
}

/* listener: ours, -1 if another process hangs up. */
static void tries(const char *whose, int listener)
{
	printf("%s:", whose);
	for (int i = 0; i < TIMES; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		struct pollfd end = { .fd = fd, .events = POLLIN };
		char byte;

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
			printf(" %s", error_name(errno));
			close(fd);
			continue;
		}
		if (listener >= 0)
			hang_up(listener);
		if (poll(&end, 1, 10000) != 1 || read(fd, &byte, 1) != 0)
			give_up("end");
		close(fd);
		printf(" ok");
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	int listener, ready[2];
	pid_t child;
	char byte;

	if (argc < 2 || pipe(ready) != 0)
		give_up("usage");
	listener = listening(argv[1], "own");
	tries("its own", listener);
	close(listener);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		listener = listening(argv[1], "other");
		if (write(ready[1], "", 1) != 1)
			give_up("pipe");
		for (;;)
			hang_up(listener);
	}
	if (read(ready[0], &byte, 1) != 1)
		give_up("pipe");
	snprintf(to.sun_path, sizeof(to.sun_path), "%.80s/other", argv[1]);
	tries("another's", -1);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
