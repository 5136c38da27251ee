/* SPDX-License-Identifier: MIT */
/*
 * A program with many connections to one server runs out of ports of its own: each further connect
 * ends in EADDRNOTAVAIL at once, whether it may block or not. The server is well, and the first
 * connect after a port is free again reaches it. In a network of its own with twenty ports.
 */
#include "probe.h"

enum { PORTS = 20, TRIES = 40 };

static bool twenty_ports(void)
{
	FILE *file =
	    private_network() ? fopen("/proc/sys/net/ipv4/ip_local_port_range", "we") : NULL;

	return file != NULL && fputs("40000 40019", file) >= 0 && fclose(file) == 0;
}

/* How many of the connects find no port. */
static int tries_without(const struct sockaddr_in *to, int type)
{
	int without = 0;

	for (int i = 0; i < TRIES; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | type, 0);

		without +=
		    connect(fd, (const void *)to, sizeof(*to)) != 0 && errno == EADDRNOTAVAIL;
		close(fd);
	}
	return without;
}

int main(void)
{
	struct sockaddr_in to = loopback(9000);
	int listener, held[PORTS], well = 0;
	struct linger hard = { .l_onoff = 1, .l_linger = 0 };

	if (!twenty_ports())
		return PROBE_CANNOT;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (void *)&to, sizeof(to)) != 0 || listen(listener, 128) != 0)
		give_up("listen");
	start_server_on(listener, SERVER_ECHO, NULL);
	for (int i = 0; i < PORTS; i++) {
		held[i] = connected(9000);
		well += held[i] >= 0 && echo(held[i], "one");
	}
	printf("connected: %d\n", well);
	printf("without a port: %d blocking, ", tries_without(&to, 0));
	printf("%d not\n", tries_without(&to, SOCK_NONBLOCK));
	setsockopt(held[0], SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(held[0]);
	printf("echo: %d\n", echo(connected(9000), "two"));
	return 0;
}
