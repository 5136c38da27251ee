/* SPDX-License-Identifier: MIT */
/*
 * A crawler: one connect to each of many hosts, and one more at once to each that is dead. No host
 * sees more than two attempts. Every `living`-th host answers; 0: none does.
 * Usage: crawl HOSTS LIVING wait|poll
 */
#include "tallies.h"

#define DEAD 7001

static struct sockaddr_in host(int i, uint16_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };

	to.sin_addr.s_addr = htonl(0x7f200000u + (uint32_t)i);
	return to;
}

static int visit(const struct sockaddr_in *to, bool waits)
{
	int fd = socket(AF_INET, SOCK_STREAM | (waits ? 0 : SOCK_NONBLOCK), 0), err = 0;
	struct pollfd entry = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(err);

	if (connect(fd, (const struct sockaddr *)to, sizeof(*to)) != 0) {
		err = errno;
		if (err == EINPROGRESS && poll(&entry, 1, 30000) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	}
	if (err == 0) {
		fcntl(fd, F_SETFL, 0);
		if (!echo(fd, "page"))
			err = EIO;
	}
	close(fd);
	return err;
}

int main(int argc, char **argv)
{
	int hosts = atoi(argv[1]), living = atoi(argv[2]), good = 0, refused = 0, other = 0;
	bool waits = argc > 3 && strcmp(argv[3], "wait") == 0;
	struct sockaddr_in any = { .sin_family = AF_INET };
	socklen_t len = sizeof(any);
	int listener;
	int64_t begin, longest = 0;

	if (!private_network())
		return PROBE_CANNOT;
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&any, sizeof(any)) != 0 ||
	    getsockname(listener, (struct sockaddr *)&any, &len) != 0 || listen(listener, 128) != 0)
		give_up("listen");
	start_server_on(listener, SERVER_ECHO, NULL);
	begin = now_ms();
	for (int i = 0; i < hosts; i++) {
		bool lives = living && i % living == 0;
		struct sockaddr_in to = host(i, lives ? ntohs(any.sin_port) : DEAD);

		for (int tries = 0; tries < 2; tries++) {
			int64_t start = now_ms();
			int err = visit(&to, waits);

			if (now_ms() - start > longest)
				longest = now_ms() - start;
			good += err == 0;
			refused += err == ECONNREFUSED;
			other += err != 0 && err != ECONNREFUSED;
			if (err == 0)
				break;
		}
	}
	printf("pages: %d\nrefused: %d\nother: %d\n", good, refused, other);
	tell_all();
	printf("# probe: ms=%ld longest=%ld connects=%ld\n", (long)(now_ms() - begin),
	       (long)longest, kernel_connects());
	return 0;
}
