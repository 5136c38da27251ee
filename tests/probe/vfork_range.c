/* SPDX-License-Identifier: MIT */
/*
 * A vfork() child that closes all it has by the range, as the spawners of Python and systemd do:
 * its parent's connections are still there, and so is what the parent knows of them. Here somebody
 * asks for something on an accepted one, which makes the next attempt a first try.
 */
#include "probe.h"

#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)

int main(int count, char **arguments)
{
	bool one_by_one = count > 1 && strcmp(arguments[1], "loop") == 0;
	int listener, held, peer;
	uint16_t port = refusing_port(&held);
	struct sockaddr_in here = loopback(0);
	socklen_t len = sizeof(here);
	volatile int client, server;
	int64_t ms;
	char byte;
	pid_t child;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	peer = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&here, len) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)&here, &len) != 0 ||
	    syscall(SYS_connect, peer, &here, len) != 0)
		give_up("listen");
	client = peer;
	server = accept(listener, NULL, NULL);
	printf("first: %s\n", error_name(attempt(port, &ms)));
	child = vfork();
	if (child == 0) {
		for (int i = 3; one_by_one && i < 64; i++)
			close(i);
		closefrom(3);
		close_range(3, ~0U, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	syscall(SYS_sendto, client, "x", 1, 0, NULL, 0);
	printf("asked: %zd\n", recv(server, &byte, 1, 0));
	printf("next: %s\n", error_name(attempt(port, &ms)));
	return 0;
}

#else

int main(void)
{
	return PROBE_CANNOT;
}

#endif
