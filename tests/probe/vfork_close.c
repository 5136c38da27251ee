/* SPDX-License-Identifier: MIT */
/*
 * A vfork() child runs in its parent's memory with descriptors of its own: its close-all loop must
 * not make the shim forget the parent's connections. Here the connection is dropped afterwards, so
 * the next attempt is a retry, which it can only be if the outcome was still seen.
 */
#include "probe.h"

int main(void)
{
	uint16_t port = start_server(SERVER_DROP, NULL);
	volatile int fd = connected(port);
	char byte;
	int64_t ms;
	pid_t child;
	int err;

	if (fd < 0)
		give_up("connect");
	child = vfork();
	if (child == 0) {
		for (int i = 3; i < 1024; i++)
			close(i);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	printf("send: %zd\n", send(fd, "x", 1, 0));
	printf("recv: %zd\n", recv(fd, &byte, 1, 0));
	close(fd);
	err = attempt(port, &ms);
	printf("next: %s, %s\n", error_name(err), length_of(ms, 1000));
	return 0;
}
