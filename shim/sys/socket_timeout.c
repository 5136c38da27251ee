/* SPDX-License-Identifier: MIT */
/* O_NONBLOCK, and SO_SNDTIMEO and SO_RCVTIMEO as ns. */
#include "sys/socket_timeout.h"

#include "sys/arithmetic.h"
#include "sys/real.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>

int64_t socket_timeout(int fd, int name)
{
	struct timeval timeout = { 0 };
	socklen_t len = sizeof(timeout);
	int64_t seconds;

	if (real.getsockopt(fd, SOL_SOCKET, name, &timeout, &len) != 0 ||
	    (timeout.tv_sec == 0 && timeout.tv_usec == 0))
		return INT64_MAX;
	seconds = timeout.tv_sec;
	if (seconds >= INT64_MAX / NS_PER_S)
		return INT64_MAX - 1;
	return seconds * NS_PER_S + (int64_t)timeout.tv_usec * 1000;
}

bool socket_waits(int fd)
{
	int flags = real.fcntl(fd, F_GETFL, 0);

	return flags >= 0 && !(flags & O_NONBLOCK);
}
