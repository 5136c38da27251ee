/* SPDX-License-Identifier: MIT */
/*
 * A non-blocking connect fails, and the program learns it in one of many ways; from then on it must
 * find nothing on the socket that it has not set there.
 * Usage: told so_error|read|recv|write|send|getpeername|connect
 */
#include "probe.h"

#ifndef IP_MINTTL
#define IP_MINTTL 21
#endif

static int option(int fd, int level, int name)
{
	int value = -1;
	socklen_t len = sizeof(value);

	getsockopt(fd, level, name, &value, &len);
	return value;
}

static void learn(const char *how, int fd, const struct sockaddr_in *to)
{
	char byte;

	signal(SIGPIPE, SIG_IGN);
	if (strcmp(how, "so_error") == 0)
		option(fd, SOL_SOCKET, SO_ERROR);
	else if (strcmp(how, "read") == 0)
		(void)!read(fd, &byte, 1);
	else if (strcmp(how, "recv") == 0)
		recv(fd, &byte, 1, 0);
	else if (strcmp(how, "write") == 0)
		(void)!write(fd, "x", 1);
	else if (strcmp(how, "send") == 0)
		send(fd, "x", 1, MSG_NOSIGNAL);
	else if (strcmp(how, "connect") == 0)
		connect(fd, (const struct sockaddr *)to, sizeof(*to));
	else if (getpeername(fd, &(struct sockaddr) { 0 }, &(socklen_t) { 0 }) != 0)
		(void)!read(fd, &byte, 1); /* which error it was */
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "read";
	struct sockaddr_in to;
	int held, fd;

	to = loopback(refusing_port(&held));
	attempt(ntohs(to.sin_port), NULL);
	for (int i = 0; i < 2; i++) {
		struct pollfd at = { .events = POLLOUT };

		at.fd = fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno != EINPROGRESS)
			give_up("connect");
		poll(&at, 1, 10000);
		learn(how, fd, &to);
		printf("user timeout: %d, least TTL: %d\n",
		       option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT),
		       option(fd, IPPROTO_IP, IP_MINTTL));
		close(fd);
	}
	return 0;
}
