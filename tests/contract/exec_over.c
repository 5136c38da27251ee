/* SPDX-License-Identifier: MIT */
/*
 * Connections that live through exec, and others that end there: the new program knows nothing of
 * the numbers, finds none of ours among them, and they work (HAZARDS 24, 32).
 */
#include "trap.h"

static int after(char **argv)
{
	int kept = atoi(argv[2]), gone = atoi(argv[3]), file = atoi(argv[4]);
	char data[8] = "";
	ssize_t n;

	printf("open: %d\n", count_fds());
	printf("kept: %s\n", echo(kept, "after") ? "works" : "broken");
	n = recv(gone, data, 1, 0);
	printf("gone: %d %s\n", (int)n, error_name(errno));
	printf("file: %d\n", (int)write(file, "x", 1));
	printf("new one: %s\n", talk((uint16_t)atoi(argv[5])));
	close(kept);
	n = send(kept, "x", 1, MSG_NOSIGNAL);
	printf("closed: %d %s\n", (int)n, error_name(errno));
	return 0;
}

int main(int argc, char **argv)
{
	uint16_t port;
	int kept, gone, file;

	if (argc > 5)
		return after(argv);
	port = start_server(SERVER_ECHO, NULL);
	kept = connected(port);
	gone = connected(port);
	file = open("/dev/null", O_WRONLY);
	fcntl(gone, F_SETFD, FD_CLOEXEC);
	printf("before: %d %d, open: %d\n", echo(kept, "word"), echo(gone, "word"), count_fds());
	fflush(stdout);
	execl("/proc/self/exe", argv[0], "after", number_text(kept), number_text(gone),
	      number_text(file), number_text(port), (char *)NULL);
	return 2;
}
