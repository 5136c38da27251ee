// SPDX-License-Identifier: MIT
/*
 * A name server on 127.0.0.1:53 that fails on order. It knows one thing: with `mode ok` every name
 * has the address 127.0.0.1 and no other. Key of the journal: the query type (1 = A, 28 = AAAA).
 *
 * Usage: dns ok|servfail|nxdomain|silent
 * Orders on stdin: mode MODE | count TYPE SINCE | times TYPE SINCE
 */
#include "control.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#define TYPE_A 1

static const struct {
	const char *name;
	int rcode; /* -1: no answer at all */
} modes[] = { { "ok", 0 }, { "servfail", 2 }, { "nxdomain", 3 }, { "silent", -1 } };

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

/* Turns a query into its answer in place; returns the length to send, or 0 to say nothing. */
static size_t answer(unsigned char *query, size_t length, size_t room)
{
	/* A pointer to the question's name, type A, class IN, ttl 0, four bytes of address. */
	static const unsigned char loopback[] = { 0xc0, 12, 0, TYPE_A, 0,   1, 0, 0,
		                                  0,    0,  0, 4,      127, 0, 0, 1 };
	size_t end = 12;
	int type;

	while (end < length && query[end])
		end += query[end] + 1u;
	end += 5; /* the root label, type, class */
	if (end > length)
		return 0;
	type = query[end - 4] << 8 | query[end - 3];
	journal_add(type);
	if (rcode < 0)
		return 0;
	query[2] = 0x84 | (query[2] & 1); /* answer, authoritative, recursion as asked for */
	query[3] = (unsigned char)(0x80 | rcode);
	memset(query + 6, 0, 6); /* no records; an EDNS record of the query is not repeated */
	if (rcode == 0 && type == TYPE_A && end + sizeof(loopback) <= room) {
		query[7] = 1;
		memcpy(query + end, loopback, sizeof(loopback));
		end += sizeof(loopback);
	}
	return end;
}

int main(int argc, char **argv)
{
	struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(53) };
	struct sockaddr_in from;
	socklen_t from_size;
	unsigned char packet[1024];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (argc != 2 || !set_mode(argv[1])) {
		(void)fputs("usage: dns ok|servfail|nxdomain|silent\n", stderr);
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
			size_t n = answer(packet, (size_t)got, sizeof(packet));

			if (n)
				sendto(fd, packet, n, 0, (struct sockaddr *)&from, from_size);
		}
		if (watch[0].revents && !control_read(obey))
			return 0;
	}
}
