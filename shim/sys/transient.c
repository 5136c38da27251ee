/* SPDX-License-Identifier: MIT */
/* Opening and closing a descriptor of ours without ever taking one of the program's for it. */
#include "sys/transient.h"

#include "sys/fault.h"
#include "sys/real.h"
#include "sys/status.h"

#include <errno.h>
#include <fcntl.h>

#define LOWEST 3 /* 0-2 belong to the program even while they are closed */

static uint64_t number_of_file(int fd)
{
	struct stat64 is;

	return status_of(fd, &is) ? is.st_ino : 0;
}

static uint64_t identity_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	if (real.getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) == 0)
		return cookie;
	/* Before Linux 4.12, and in sandboxes that have or allow no cookies. */
	return errno != EBADF && errno != ENOTSOCK ? number_of_file(fd) : 0;
}

bool transient_is_ours(const struct transient *at)
{
	return at->identity != 0 &&
	       (at->is_file ? number_of_file(at->fd) : identity_of(at->fd)) == at->identity;
}

void transient_close(const struct transient *at)
{
	if (transient_is_ours(at))
		real.close(at->fd);
}

void transient_take(struct transient *at, int fd)
{
	at->fd = fd;
	at->is_file = false;
	at->identity = identity_of(fd);
}

/* Of one that was just opened: notes what tells it from others, and moves it where the program's
 * are not. */
static bool settle(struct transient *at)
{
	struct transient low;

	at->identity = at->is_file ? number_of_file(at->fd) : identity_of(at->fd);
	if (at->identity == 0) {
		/* Nothing would close it later. */
		if (errno != EBADF && errno != ENOTSOCK)
			real.close(at->fd);
		return false;
	}
	if (at->fd >= LOWEST)
		return true;
	low = *at;
	at->fd = real.fcntl(low.fd, F_DUPFD_CLOEXEC, LOWEST);
	transient_close(&low);
	return at->fd >= 0;
}

bool transient_open(struct transient *at, int domain)
{
	at->fd = real.socket(domain, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	at->is_file = false;
	if (at->fd >= 0 && settle(at))
		return true;
	fault_count();
	return false;
}

bool transient_open_file(struct transient *at, const char *path)
{
	at->fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	at->is_file = true;
	return at->fd >= 0 && settle(at);
}
