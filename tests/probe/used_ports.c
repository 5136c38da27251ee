/* SPDX-License-Identifier: MIT */
/*
 * rsh, mount.nfs and others walk through the reserved ports for one that is free: a connect from a
 * port that has a connection to the server already ends in EADDRNOTAVAIL, and the next port is
 * tried. The server has not heard of any of these, and is well.
 */
#include "probe.h"

enum { TRIES = 60 };

/* From where that socket is bound; errno is the connect's. */
static int from_port_of(int taken, const struct sockaddr_in *to)
{
	struct sockaddr_in from;
	socklen_t length = sizeof(from);
	int fd = socket(AF_INET, SOCK_STREAM, 0), result;

	if (fd < 0 || getsockname(taken, (void *)&from, &length) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int) { 1 }, sizeof(int)) != 0 ||
	    bind(fd, (void *)&from, length) != 0)
		give_up("bind");
	result = connect(fd, (const void *)to, sizeof(*to));
	close(fd);
	return result;
}

/* The connection that is in the way of the others. Bound too, or its port may be another program's
 * as well. */
static int first(const struct sockaddr_in *to)
{
	struct sockaddr_in any = loopback(0);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int) { 1 }, sizeof(int)) != 0 ||
	    bind(fd, (void *)&any, sizeof(any)) != 0 ||
	    connect(fd, (const void *)to, sizeof(*to)) != 0)
		give_up("the first connect");
	return fd;
}

int main(void)
{
	struct sockaddr_in to = loopback(start_server(SERVER_ECHO, NULL));
	int taken = first(&to), in_use = 0, fd;

	for (int i = 0; i < TRIES; i++)
		in_use += from_port_of(taken, &to) != 0 && errno == EADDRNOTAVAIL;
	printf("in use: %d of %d\n", in_use, TRIES);
	fd = connected(ntohs(to.sin_port));
	printf("echo: %d\n", echo(fd, "one"));
	return 0;
}
