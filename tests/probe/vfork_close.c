/* SPDX-License-Identifier: MIT */
/*
 * A vfork() child runs in its parent's memory with descriptors of its own: its close-all loop must
 * not make the shim forget the parent's connections. Here the connection is dropped afterwards, so
 * the next attempt is a retry, which it can only be if the outcome was still seen.
 * forked: the same child of a forked process, which has done nothing else before, must not leave
 * the shim in the belief that all of the process is a vfork child: then no close would count.
 * Usage: vfork_close [forked]
 */
#include "probe.h"

static void close_all_in_a_child(void)
{
	pid_t child = vfork();

	if (child == 0) {
		for (int i = 3; i < 1024; i++)
			close(i);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void say_next(uint16_t port)
{
	printf("next: %s\n", error_name(attempt(port, NULL)));
}

/* The server hangs up without an answer, and nobody reads that: only the close tells. */
static void in_a_forked_process(void)
{
	int fd = connected(start_server(SERVER_ECHO, NULL)), silent;
	uint16_t port = start_server(SERVER_DROP, NULL);
	pid_t child;

	if (fd < 0 || !echo(fd, "word"))
		give_up("connect");
	child = fork();
	if (child != 0) {
		waitpid(child, NULL, 0);
		return;
	}
	close_all_in_a_child();
	silent = connected(port);
	printf("send: %zd\n", send(silent, "x", 1, 0));
	pause_ms(300);
	close(silent);
	say_next(port);
	exit(0);
}

int main(int argc, char **argv)
{
	uint16_t port;
	char byte;
	int fd;

	if (argc > 1 && strcmp(argv[1], "forked") == 0) {
		in_a_forked_process();
		return 0;
	}
	port = start_server(SERVER_DROP, NULL);
	fd = connected(port);
	if (fd < 0)
		give_up("connect");
	close_all_in_a_child();
	printf("send: %zd\n", send(fd, "x", 1, 0));
	printf("recv: %zd\n", recv(fd, &byte, 1, 0));
	close(fd);
	say_next(port);
	return 0;
}
