/* SPDX-License-Identifier: MIT */
/* A worker whose master accepts for it, as that of a cluster of Node does, has no other sign that
 * somebody asks it for something. */
#include "conn/passed.h"

#include "conn/sockets.h"
#include "dest/demand.h"
#include "region/state.h"
#include "sys/real.h"

#include <errno.h>
#include <string.h>

/* One system call. */
static bool is_connection(int fd)
{
	sa_family_t family; /* no more: the kernel gives none of an address that is shorter */
	socklen_t len = sizeof(family);

	/* As getpeername(), which a filter of system calls may not know. */
	return real.getsockopt(fd, SOL_SOCKET, SO_PEERNAME, &family, &len) == 0 &&
	       (family == AF_INET || family == AF_INET6);
}

void passed_look(const struct msghdr *message)
{
	struct msghdr copy = *message; /* CMSG_NXTHDR wants one that is not const */
	int saved = errno;

	/* While all is well nobody asks whose work it is, and no call is added. */
	if (!shim_ready() || !demand_has_refusals())
		return;
	for (struct cmsghdr *one = CMSG_FIRSTHDR(&copy); one; one = CMSG_NXTHDR(&copy, one)) {
		if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = CMSG_LEN(0); at + sizeof(int) <= one->cmsg_len;
		     at += sizeof(int)) {
			int fd;

			memcpy(&fd, (const char *)one + at, sizeof(fd));
			if (!is_connection(fd))
				continue;
			demand_accepted();
			socket_created(fd, WATCH_SERVER);
		}
	}
	errno = saved;
}
