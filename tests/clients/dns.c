// SPDX-License-Identifier: MIT
/*
 * A name server on 127.0.0.1:53 that fails on order. What it knows with `mode ok` is in zone.h. Key
 * of the journal: the query type (1 = A, 28 = AAAA).
 *
 * Usage: dns ok|servfail|nxdomain|refused|nodata|silent
 * Orders on stdin: mode MODE | count TYPE SINCE | times TYPE SINCE
 */
#include "control.h"
#include "zone.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

static const struct {
	const char *name;
	int rcode;
} modes[] = {
	{ "ok", ZONE_OK },           { "servfail", ZONE_SERVFAIL }, { "nxdomain", ZONE_NXDOMAIN },
	{ "refused", ZONE_REFUSED }, { "nodata", ZONE_NODATA },     { "silent", ZONE_SILENT }
};

static int rcode;

static int set_mode(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(modes[i].name, name)) {
			rcode = modes[i].rcode;
			return 1;
		}
	return 0;
}

static void obey(const char *order)
{
	if (journal_order(order))
		return;
	if (!strncmp(order, "mode ", 5) && set_mode(order + 5))
		printf("ok %lld\n", (long long)now_ns());
	else
		printf("what is '%s'?\n", order);
}

int main(int argc, char **argv)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(53) };
	struct sockaddr_in from;
	socklen_t from_size;
	unsigned char packet[1024];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (argc != 2 || !set_mode(argv[1])) {
		(void)fputs("usage: dns ok|servfail|nxdomain|refused|nodata|silent\n", stderr);
		return 2;
	}
	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof(here))) {
		perror("dns: 127.0.0.1:53 (it needs a network namespace of its own)");
		return 1;
	}
	puts("ready");
	(void)fflush(stdout);

	struct pollfd watch[] = { { 0, POLLIN, 0 }, { fd, POLLIN, 0 } };

	for (;;) {
		ssize_t got;

		poll(watch, 2, -1);
		while (from_size = sizeof(from),
		       (got = recvfrom(fd, packet, sizeof(packet), 0, (struct sockaddr *)&from,
		                       &from_size)) >= 0) {
			int type;
			size_t n = zone_answer(packet, (size_t)got, sizeof(packet), rcode, &type);

			if (type)
				journal_add(type);
			if (n)
				sendto(fd, packet, n, 0, (struct sockaddr *)&from, from_size);
		}
		if (watch[0].revents && !control_read(obey))
			return 0;
	}
}
