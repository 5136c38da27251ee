/* SPDX-License-Identifier: MIT */
/*
 * A program that locks its memory, present and to come, under the 8 MiB that an ordinary user may
 * lock (the kernel's default), as those do that keep keys or keep time. What its libraries map
 * counts, touched or not.
 */
#include "probe.h"

#define MAY_LOCK (8 << 20)

static bool as_ordinary_user(void)
{
	struct rlimit limit = { MAY_LOCK, MAY_LOCK };

	if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
		return false;
	return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}

static int locked(uint16_t good, uint16_t bad)
{
	int fd;

	if (!as_ordinary_user())
		return PROBE_CANNOT;
	printf("locked: %s\n", error_name(mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? 0 : errno));
	printf("room for more: %s\n", mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE,
	                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED
	                                  ? "2 MiB"
	                                  : "none");
	for (int i = 0; i < 3; i++)
		printf("refused: %s\n", error_name(attempt(bad, NULL)));
	fd = connected(good);
	printf("server: %s\n", fd >= 0 && echo(fd, "hello") ? "answers" : "broken");
	return 0;
}

/* In a child: the server ends with its parent, and a parent that is an ordinary user by then may
 * not signal one of root's. */
int main(void)
{
	uint16_t good = start_server(SERVER_ECHO, NULL), bad;
	int held, status;
	pid_t child;

	bad = refusing_port(&held);
	child = fork();
	if (child == 0)
		exit(locked(good, bad));
	if (child < 0 || waitpid(child, &status, 0) != child)
		give_up("child");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
