/* SPDX-License-Identifier: MIT */
/* Opening and closing a socket of ours without ever taking one of the host's for it. */
#include "sys/transient.h"

#include "sys/fault.h"
#include "sys/real.h"
#include "sys/status.h"

#include <errno.h>
#include <fcntl.h>

#define LOWEST 3 /* 0-2 belong to the host even while they are closed */

static uint64_t identity_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);
	struct stat64 is;

	if (real.getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) == 0)
		return cookie;
	/* Before Linux 4.12, and in sandboxes that have or allow no cookies. */
	return errno != EBADF && errno != ENOTSOCK && status_of(fd, &is) ? is.st_ino : 0;
}

bool transient_is_ours(const struct transient *at)
{
	return at->identity != 0 && identity_of(at->fd) == at->identity;
}

void transient_close(const struct transient *at)
{
	if (transient_is_ours(at))
		real.close(at->fd);
}

void transient_take(struct transient *at, int fd)
{
	at->fd = fd;
	at->identity = identity_of(fd);
}

bool transient_open(struct transient *at, int domain)
{
	struct transient low;

	at->fd = real.socket(domain, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (at->fd >= 0) {
		at->identity = identity_of(at->fd);
		if (at->identity == 0) {
			/* Nothing would close it later. */
			if (errno != EBADF && errno != ENOTSOCK)
				real.close(at->fd);
			fault_count();
			return false;
		}
		if (at->fd >= LOWEST)
			return true;
		low = *at;
		at->fd = real.fcntl(low.fd, F_DUPFD_CLOEXEC, LOWEST);
		transient_close(&low);
	}
	if (at->fd < 0)
		fault_count();
	return at->fd >= 0;
}
