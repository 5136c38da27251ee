/* SPDX-License-Identifier: MIT */
/*
 * Into other namespaces, after a connection and a failure in the first ones (HAZARDS 16: a thread
 * of ours would make some of this fail), and back. Usage: spaces net|user|pid|rest
 */
#include "trap.h"

static void join_new(int flags)
{
	if (unshare(flags) != 0)
		exit(errno == EPERM ? PROBE_CANNOT : 2);
}

static void in_new_network(int fd, uint16_t port)
{
	int before = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), held;
	uint16_t there;

	if (!private_network())
		exit(PROBE_CANNOT);
	printf("old connection: %s\n", echo(fd, "word") ? "works" : "broken");
	printf("nobody there: %s\n", error_name(attempt(port, NULL)));
	there = start_server(SERVER_ECHO, NULL);
	printf("somebody there: %s\n", talk(there));
	printf("refused: %s\n", error_name(attempt(refusing_port(&held), NULL)));
	if (setns(before, CLONE_NEWNET) == 0)
		printf("back: %s\n", talk(port));
	close(before);
}

static void in_new_process_ids(uint16_t port, uint16_t bad)
{
	pid_t child;

	join_new(CLONE_NEWPID);
	child = fork();
	if (child == 0) {
		printf("process %d: %s, %s\n", (int)getpid(), talk(port),
		       error_name(attempt(bad, NULL)));
		fflush(stdout);
		_exit(0);
	}
	printf("child: %s\n", ending_of(child));
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "net";
	uint16_t port = start_server(SERVER_ECHO, NULL), bad;
	int held, fd = connected(port);

	bad = refusing_port(&held);
	printf("before: %s, %s\n", echo(fd, "word") ? "works" : "broken",
	       error_name(attempt(bad, NULL)));
	fflush(stdout);
	if (strcmp(way, "net") == 0)
		in_new_network(fd, port);
	else if (strcmp(way, "pid") == 0)
		in_new_process_ids(port, bad);
	else if (strcmp(way, "user") == 0)
		join_new(CLONE_NEWUSER);
	else
		join_new(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_FS | CLONE_FILES |
		         CLONE_SYSVSEM);
	printf("after: %s, %s, %s\n", echo(fd, "word") ? "works" : "broken", talk(port),
	       error_name(attempt(bad, NULL)));
	return 0;
}
