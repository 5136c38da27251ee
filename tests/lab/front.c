/* SPDX-License-Identifier: MIT */
/*
 * A service that does without: for each request it asks a backend, so many times and without a
 * pause, and answers whether that did or not. A thread for each connection, of one request.
 *
 * Usage: front PORT BACKEND-PORT TRIES
 */
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in backend;
static int tries;

static bool has_asked(void)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char reply[512];
	bool good = connect(fd, (struct sockaddr *)&backend, sizeof(backend)) == 0 &&
	            send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0 &&
	            recv(fd, reply, sizeof(reply), 0) > 0;

	close(fd);
	return good;
}

static bool read_request(int fd, char *path)
{
	char text[2048];
	size_t length = 0;

	do {
		ssize_t got = recv(fd, text + length, sizeof(text) - 1 - length, 0);

		if (got <= 0)
			return false;
		length += (size_t)got;
		text[length] = 0;
	} while (!strstr(text, "\r\n\r\n") && length < sizeof(text) - 1);
	return sscanf(text, "%*s %255s", path) == 1;
}

static void *serve(void *at)
{
	int fd = (int)(long)at;
	char path[256], reply[512];

	if (read_request(fd, path)) {
		for (int i = 0; i < tries && !has_asked(); i++)
			;
		snprintf(reply, sizeof(reply),
		         "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
		         strlen(path), path);
		send(fd, reply, strlen(reply), MSG_NOSIGNAL);
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pthread_attr_t small;

	if (argc != 4) {
		fputs("usage: front PORT BACKEND-PORT TRIES\n", stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	backend = at;
	at.sin_port = htons((uint16_t)atoi(argv[1]));
	backend.sin_port = htons((uint16_t)atoi(argv[2]));
	tries = atoi(argv[3]);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 4096)) {
		perror("front");
		return 1;
	}
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 << 10);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		pthread_t thread;

		if (fd >= 0 && pthread_create(&thread, &small, serve, (void *)(long)fd))
			close(fd);
	}
}
