/* SPDX-License-Identifier: MIT */
/*
 * Work that takes a fixed time, for servers whose capacity a test has to know.
 *
 * slow PORT MS: a small server of the old kind, one connection after the other, MS each.
 * slow: a CGI program; the MS stand in the file `ms` of its folder. If that folder has a file
 * `turn` only one of its kind works at a time.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void work(int ms)
{
	struct timespec left = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&left, NULL);
}

static int serve(int port, int ms)
{
	static const char reply[] = "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n";
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct timeval timeout = { .tv_usec = 200000 };
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 256) != 0)
		return 1;
	for (;;) {
		char request[4096];
		int peer = accept(listener, NULL, NULL);

		if (peer < 0)
			return 1; /* as naive as they come */
		/* Or a client that hangs silent would be all that the test measures. */
		setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
		(void)!read(peer, request, sizeof(request));
		work(ms);
		(void)!send(peer, reply, strlen(reply), MSG_NOSIGNAL);
		close(peer);
	}
}

int main(int argc, char **argv)
{
	FILE *file;
	int ms = 0, turn;

	if (argc > 2)
		return serve(atoi(argv[1]), atoi(argv[2]));
	file = fopen("ms", "re");
	if (!file || fscanf(file, "%d", &ms) != 1)
		return 1;
	turn = open("turn", O_RDWR | O_CLOEXEC);
	if (turn >= 0)
		flock(turn, LOCK_EX);
	work(ms);
	printf("Content-Type: text/plain\r\n\r\nok\n");
	return 0;
}
