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

int main(void)
{
	uint16_t good = start_server(SERVER_ECHO, NULL), bad;
	int held, fd;

	bad = refusing_port(&held);
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
