/* SPDX-License-Identifier: MIT */
/*
 * A loop without a pause against a server that is down, which then comes up and is used until all
 * tokens are back. Tells what the shim has counted when the outage ends, and for how long the loop
 * went on, so that the driver can hold the records against it.
 * Usage: outage wait|poll
 */
#include "tallies.h"

#define DOWN   80  /* attempts while it is down */
#define MOST   400 /* until it answers */
#define AFTER  40  /* exchanges after that */
#define GLANCE 20  /* ms that a connect which does not block is waited for */

static bool answers(uint16_t port, bool waits)
{
	struct sockaddr_in to = loopback(port);
	int fd = socket(AF_INET, SOCK_STREAM | (waits ? 0 : SOCK_NONBLOCK), 0), err = 0;
	struct pollfd entry = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(err);
	bool answered;

	if (fd < 0)
		give_up("socket");
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
		err = errno;
		if (err == EINPROGRESS && poll(&entry, 1, GLANCE) == 1)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	}
	fcntl(fd, F_SETFL, 0);
	answered = err == 0 && echo(fd, "word");
	close(fd);
	return answered;
}

int main(int argc, char **argv)
{
	bool waits = argc > 1 && strcmp(argv[1], "wait") == 0, up = false;
	int down, served = 0;
	uint16_t port = refusing_port(&down);
	int64_t began = now_ms();

	for (int i = 0; i < DOWN; i++)
		if (answers(port, waits))
			give_up("it is down");
	printf("# loop: ms=%ld\n", (long)(now_ms() - began));
	if (listen(down, 128) != 0)
		give_up("listen");
	start_server_on(down, SERVER_ECHO, NULL);
	for (int i = 0; i < MOST && !up; i++) {
		past_the_gate();
		up = answers(port, waits);
	}
	printf("# outage: ms=%ld\n", (long)(now_ms() - began));
	tell_port("port", port);
	for (int i = 0; i < AFTER; i++)
		served += answers(port, waits);
	printf("up again: %s, then served %s\n", up ? "yes" : "NO",
	       served == AFTER ? "always" : "NOT");
	return 0;
}
