/* SPDX-License-Identifier: MIT */
/*
 * Parking: a connect to a sinkhole on this machine, of which the program's socket drops every
 * answer, until TCP_USER_TIMEOUT ends it (conn/park_options.h). Where the machine itself sends with
 * a TTL of 255 the connect is refused at once, as if redirected.
 *
 * Redirecting: the same, and the answer is let in. TCP_USER_TIMEOUT ends it after a second where
 * there is none: a firewall on lo, or lo down, would keep it waiting for two minutes.
 *
 * A number beyond the table of sockets is redirected without that: nobody would take it off again.
 */
#include "pace/park.h"

#include "conn/park_options.h"
#include "pace/sinkhole.h"
#include "sys/real.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

/* Only ever asked where nothing may block: if the socket itself does, the program sends with
 * MSG_DONTWAIT, and we do the same. */
static bool begin(int fd, const struct sockaddr_in6 *to, socklen_t len)
{
	const struct sockaddr *address = (const struct sockaddr *)to;
	int flags = real.fcntl(fd, F_GETFL, 0);

	if (flags >= 0 && flags & O_NONBLOCK)
		return libc_own.connect(fd, address, len) < 0 && errno == EINPROGRESS;
	return real.sendto(fd, "", 0, MSG_FASTOPEN | MSG_DONTWAIT | MSG_NOSIGNAL, address, len) <
	           0 &&
	       errno == EINPROGRESS;
}

int park(int fd, const struct sockaddr *target, socklen_t target_len, int64_t delay,
         struct socket_entry *entry)
{
	struct sockaddr_in6 end;
	bool v6 = target->sa_family == AF_INET6, drops = false;
	int protocol = 0, err;
	socklen_t size = sizeof(protocol), len = 0;

	if (real.getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) == 0 &&
	    (protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP))
		len = sinkhole_find(fd, target, target_len, &end);
	if (len == 0) {
		errno = 0;
		return 0;
	}
	if (socket_make_room(fd) && protocol == IPPROTO_TCP)
		drops = park_options_set(fd, entry, v6, delay);
	park_options_no_cookie(fd, entry);
	if (begin(fd, &end, len))
		return drops ? ETIMEDOUT : ECONNREFUSED;
	err = errno;
	park_options_undo(fd, entry);
	errno = err;
	return 0;
}

void park_enter(struct attempt *try, struct socket_entry *entry)
{
	atomic_store(&entry->since, try->began);
	atomic_store(&entry->slot, destination_slot(try->trial.destination));
	atomic_store(&entry->generation, try->trial.generation);
	socket_enter(try->fd, entry);
	try->told = EINPROGRESS;
}
