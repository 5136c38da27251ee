/* SPDX-License-Identifier: MIT */
/*
 * The client of an outage: a naive retry loop, as legacy programs have it. Usage:
 *
 *   looper PORT PAUSE_MS [wait]
 *
 * Tries loopback:PORT until a request is answered, then exits 0. PAUSE_MS 0: without any pause;
 * wait: begins at the end of its standard input.
 */
#include "bench.h"

static int try_once(const struct sockaddr_in *server)
{
	int fd = (int)MUST(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
	char reply;
	int answered = connect(fd, (const struct sockaddr *)server, sizeof(*server)) == 0 &&
	               send(fd, "?", 1, MSG_NOSIGNAL) == 1 && recv(fd, &reply, 1, 0) == 1;

	close(fd);
	return answered;
}

int main(int argc, char **argv)
{
	struct sockaddr_in server;
	long pause;
	char none;

	if (argc != 3 && argc != 4) {
		fputs("usage: looper PORT PAUSE_MS [wait]\n", stderr);
		return 2;
	}
	server = loopback((uint16_t)number(argv[1], 1));
	pause = number(argv[2], 0);
	while (argc == 4 && read(STDIN_FILENO, &none, 1) > 0)
		;
	while (!try_once(&server))
		if (pause)
			usleep((useconds_t)pause * 1000);
	return 0;
}
