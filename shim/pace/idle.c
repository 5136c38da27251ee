/* SPDX-License-Identifier: MIT */
/*
 * What a process has to do is told by its sockets, inherited ones too. Left out are those that no
 * peer waits behind: datagrams, socket pairs (an event loop wakes itself by one), and a standard
 * stream that leads to a log (journald's is a unix connection).
 */
#include "pace/idle.h"

#include "conn/sockets.h"
#include "sys/confined.h"
#include "sys/real.h"

#include <errno.h>
#include <stddef.h>
#include <sys/un.h>
#include <unistd.h>

#define LOOKED_AT 256 /* descriptors */

static int option(int fd, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return real.getsockopt(fd, SOL_SOCKET, name, &value, &len) == 0 ? value : -1;
}

/* A socket pair's ends have none. */
static bool has_name(const struct sockaddr_storage *address, socklen_t len)
{
	return len > offsetof(struct sockaddr_un, sun_path) || address->ss_family != AF_UNIX;
}

static bool is_busy(int fd)
{
	struct sockaddr_storage own = { 0 }, peer = { 0 };
	socklen_t own_len = sizeof(own), peer_len = sizeof(peer);
	const struct socket_entry *entry = socket_find(fd);
	int type = option(fd, SO_TYPE);

	if (type != SOCK_STREAM && type != SOCK_SEQPACKET)
		return false;
	if (option(fd, SO_ACCEPTCONN) == 1 || (entry && LOAD(entry->state) == SOCKET_CONNECTING))
		return true;
	if (getpeername(fd, (struct sockaddr *)&peer, &peer_len) != 0 ||
	    getsockname(fd, (struct sockaddr *)&own, &own_len) != 0)
		return false;
	return has_name(&own, own_len) || (fd > STDERR_FILENO && has_name(&peer, peer_len));
}

/* One beyond those is seldom the only one: numbers are given out from below. */
static bool has_many(void)
{
	return socket_limit() > LOOKED_AT;
}

bool idle_but_for(int fd)
{
	int saved = errno;
	bool idle = !confined_by_itself() && !has_many();

	for (int other = 0; idle && other < LOOKED_AT; other++)
		idle = other == fd || !is_busy(other);
	errno = saved;
	return idle;
}
