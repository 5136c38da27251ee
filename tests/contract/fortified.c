/* SPDX-License-Identifier: MIT */
/*
 * A program built with _FORTIFY_SOURCE (HAZARDS 49): what it calls checks the buffer's size and
 * ends the process; that must stay, and the calls that fit must go on.
 */
#undef _FORTIFY_SOURCE
#define _FORTIFY_SOURCE 2
#include "trap.h"

static volatile size_t too_much = 64;

static void overflow(const char *name, int fd)
{
	pid_t child = fork();
	char small[8];

	if (child == 0) {
		ssize_t n = -1;

		close(2);
		if (strcmp(name, "recv") == 0)
			n = recv(fd, small, too_much, 0);
		else if (strcmp(name, "recvfrom") == 0)
			n = recvfrom(fd, small, too_much, 0, NULL, NULL);
		else
			n = read(fd, small, too_much);
		_exit(n > 0 && small[0] != 0);
	}
	printf("%s beyond the end: %s\n", name, ending_of(child));
}

int main(void)
{
	struct rlimit none = { 0, 0 };
	uint16_t port = start_answering();
	int fd = connected(port);
	char data[64];
	volatile size_t fits = 4;

	setrlimit(RLIMIT_CORE, &none);
	send(fd, "abcdefghijkl", 12, MSG_NOSIGNAL);
	printf("recv: %d\n", (int)recv(fd, data, fits, MSG_WAITALL));
	printf("recvfrom: %d\n", (int)recvfrom(fd, data, fits, MSG_WAITALL, NULL, NULL));
	printf("read: %d\n", (int)read(fd, data, fits));
	overflow("recv", fd);
	overflow("recvfrom", fd);
	overflow("read", fd);
	return 0;
}
