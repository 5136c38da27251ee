/* SPDX-License-Identifier: MIT */
/*
 * Children of every kind while the parent has a connection and a failure on its books (HAZARDS 19,
 * 20, 22): none may disturb it, and each must find its own calls working.
 * Usage: children vfork|spawn|popen|system|bare-fork|raw-fork|shared-memory
 */
#include "trap.h"

#include <spawn.h>

extern char **environ;

static char self[4096], port_text[16];
static uint16_t port;

static char *const *talker(void)
{
	static char *arguments[4];

	arguments[0] = self;
	arguments[1] = "talk";
	arguments[2] = port_text;
	return arguments;
}

static pid_t by_vfork(void)
{
	pid_t child = vfork();

	if (child == 0) {
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		dup2(1, 9);
		execve(self, talker(), environ);
		_exit(3);
	}
	return child;
}

static pid_t by_spawn(void)
{
	posix_spawn_file_actions_t actions;
	pid_t child = -1;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, 1, 9);
	posix_spawn_file_actions_addclose(&actions, 5);
	if (posix_spawn(&child, self, &actions, NULL, talker(), environ) != 0)
		child = -1;
	posix_spawn_file_actions_destroy(&actions);
	return child;
}

static void by_shell(bool read_it)
{
	char command[8192], line[64] = "";
	FILE *pipe;

	snprintf(command, sizeof(command), "exec %s talk %s", self, port_text);
	if (!read_it) {
		printf("status: %d\n", system(command));
		return;
	}
	pipe = popen(command, "re");
	if (pipe == NULL || fgets(line, sizeof(line), pipe) == NULL)
		give_up("popen");
	printf("read: %s", line);
	printf("status: %d\n", pclose(pipe));
}

static int in_child(void *unused)
{
	(void)unused;
	_exit(strcmp(talk(port), "works") == 0 ? 0 : 4);
}

/* A child that has our memory, even our thread's, and a stack of its own. */
static pid_t with_our_memory(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	return clone(in_child, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
}

static pid_t raw_fork(void)
{
	pid_t child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (child == 0)
		in_child(NULL);
	return child;
}

static pid_t bare_fork(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
	pid_t child = _Fork();

	if (child == 0)
		in_child(NULL);
	return child;
#else
	return raw_fork();
#endif
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "vfork";
	int held, fd;
	uint16_t bad;

	if (strcmp(way, "talk") == 0) {
		printf("child: %s\n", talk((uint16_t)atoi(argv[2])));
		return 0;
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0)
		give_up("readlink");
	port = start_server(SERVER_ECHO, NULL);
	snprintf(port_text, sizeof(port_text), "%d", port);
	bad = refusing_port(&held);
	fd = connected(port);
	printf("before: %s, %s\n", echo(fd, "one") ? "works" : "broken",
	       error_name(attempt(bad, NULL)));
	fflush(stdout);
	if (strcmp(way, "popen") == 0 || strcmp(way, "system") == 0)
		by_shell(*way == 'p');
	else
		printf("ended: %s\n",
		       ending_of(strcmp(way, "vfork") == 0       ? by_vfork()
		                 : strcmp(way, "spawn") == 0     ? by_spawn()
		                 : strcmp(way, "bare-fork") == 0 ? bare_fork()
		                 : strcmp(way, "raw-fork") == 0  ? raw_fork()
		                                                 : with_our_memory()));
	printf("after: %s, %s\n", echo(fd, "two") ? "works" : "broken",
	       error_name(attempt(bad, NULL)));
	return 0;
}
