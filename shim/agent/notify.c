/* SPDX-License-Identifier: MIT */
/* By the protocol of sd_notify(3), without its library: one datagram. */
#include "agent/notify.h"

#include "sys/arithmetic.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify(const char *lines)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t n = path ? strlen(path) : 0;
	int fd;

	if (n < 2 || n >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(address.sun_path, path, n);
	if (*path == '@')
		address.sun_path[0] = '\0'; /* of the abstract namespace */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	(void)sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (struct sockaddr *)&address,
	             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(fd);
}

int64_t notify_watchdog(void)
{
	const char *us = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	int64_t value = us ? strtoll(us, NULL, 10) : 0;

	if (pid && strtoll(pid, NULL, 10) != getpid())
		return 0;
	return greater(value, 0);
}
