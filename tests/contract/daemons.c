/* SPDX-License-Identifier: MIT */
/*
 * The ways into the background: daemon(3), with and without its redirections, and the old one by
 * hand with a double fork and a loop over all numbers (HAZARDS 18, 32). What was connected before
 * must work in the daemon, and what it connects itself.
 * Usage: daemons libc|libc-keep|double
 */
#include "trap.h"

#define REPORT 500 /* where its words go */
#define HOLD                                                                                       \
	501 /* open as long as it lives: the server dies with the process that waits for it        \
	     */

static void by_hand(int keep)
{
	pid_t child = fork();

	if (child > 0)
		_exit(0);
	setsid();
	if (fork() > 0)
		_exit(0);
	if (chdir("/") != 0)
		give_up("chdir");
	umask(027);
	for (int fd = 0; fd < 1024; fd++)
		if (fd != keep && fd != REPORT && fd != HOLD)
			close(fd);
	open("/dev/null", O_RDWR);
	if (dup(0) != 1 || dup(0) != 2)
		_exit(3);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "libc";
	int held, fd, hold[2];
	uint16_t port = start_server(SERVER_ECHO, NULL), bad = refusing_port(&held);

	if (dup2(1, REPORT) != REPORT || pipe(hold) != 0)
		give_up("pipe");
	if (fork() > 0) {
		char end;

		close(hold[1]);
		close(REPORT);
		dup2(open("/dev/null", O_WRONLY), 1);
		return read(hold[0], &end, 1) == 0 ? 0 : 1;
	}
	close(hold[0]);
	if (dup2(hold[1], HOLD) != HOLD)
		give_up("dup2");
	close(hold[1]);
	fd = connected(port);
	attempt(bad, NULL);
	if (strcmp(way, "double") == 0)
		by_hand(fd);
	else if (daemon(strcmp(way, "libc-keep") == 0, strcmp(way, "libc-keep") == 0) != 0)
		give_up("daemon");
	dprintf(REPORT, "open: %d, leader: %s\n", count_fds(),
	        getsid(0) == getpid() ? "yes" : "no");
	dprintf(REPORT, "old connection: %s\n", echo(fd, "word") ? "works" : "broken");
	dprintf(REPORT, "new connection: %s\n", talk(port));
	dprintf(REPORT, "refused: %s\n", error_name(attempt(bad, NULL)));
	return 0;
}
