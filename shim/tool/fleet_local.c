/* SPDX-License-Identifier: MIT */
/* One GET /fleet of 127.0.0.1, within two seconds. */
#include "tool/fleet_local.h"

#include "sys/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static int connect_to(int port)
{
	const struct timeval timeout = { 2, 0 };
	struct sockaddr_in address = { .sin_family = AF_INET,
		                       .sin_port = htons((uint16_t)port),
		                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 &&
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Where no daemon listens any user may, and his bytes go to a terminal, perhaps root's. */
static void print_line(const char *line, FILE *out)
{
	fputs("  ", out);
	for (; *line; line++)
		putc(*line < ' ' || *line > '~' ? '?' : *line, out);
	putc('\n', out);
}

const char *fleet_local_get(int port, char *reply, size_t size, char **lines)
{
	char request[128];
	size_t n = 0;
	ssize_t got = 0;
	int fd = connect_to(port);

	if (fd < 0)
		return strerror(errno);
	snprintf(request, sizeof(request),
	         "GET /fleet HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n", port);
	if (send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		got = -1;
	while (got >= 0 && n < size - 1 && (got = recv(fd, reply + n, size - 1 - n, 0)) > 0)
		n += (size_t)got;
	close(fd);
	reply[n] = '\0';
	*lines = strstr(reply, "\r\n\r\n");
	return got < 0 || !*lines || !begins(reply, "HTTP/1.1 200")
	           ? "what listens there does not answer as retrybudgetd"
	           : NULL;
}

void fleet_local_print(int port, FILE *out)
{
	char reply[FLEET_LOCAL_REPLY], *line = NULL, *rest = NULL;
	const char *why = fleet_local_get(port, reply, sizeof(reply), &line);

	if (why) {
		fprintf(out, "  no retrybudgetd at 127.0.0.1:%d: %s\n", port, why);
		return;
	}
	for (line = strtok_r(line, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
		print_line(line, out);
}
