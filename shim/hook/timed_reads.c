/* SPDX-License-Identifier: MIT */
/*
 * Reads on connections with a reply_timeout, and the few others that share their bit. Apart from
 * the hooks, so that no other read pays for a frame. Neither cares whether the number is in truth
 * somebody else's: reply_comes() does.
 */
#include "hook/timed_reads.h"

#include "conn/asked_by.h"
#include "hook/data.h"
#include "hook/datagram_calls.h"
#include "pace/reply_timeout.h"

/* from: where the program has been told from whom, or NULL. */
static ssize_t asked_one(int fd, ssize_t result, const void *from, int flags)
{
	if (result > 0)
		asked_by_datagrams(fd, 1, from, flags);
	return result;
}

ssize_t recv_timed(ssize_t (*next)(int, void *, size_t, int), int fd, void *data, size_t n,
                   int flags)
{
	if (!reply_comes(fd, n, flags))
		return -1;
	return traffic_received(fd, next(fd, data, n, flags), n, flags, data);
}

ssize_t recvfrom_timed(int fd, void *data, size_t n, int flags, struct sockaddr *from,
                       socklen_t *len)
{
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_recvfrom(fd, data, n, flags, from, len);
	if (IS_ASKED(fd))
		return asked_one(fd, real.recvfrom(fd, data, n, flags, from, len), from, flags);
	if (!reply_comes(fd, n, flags))
		return -1;
	return traffic_received(fd, real.recvfrom(fd, data, n, flags, from, len), n, flags, data);
}

ssize_t recvmsg_timed(ssize_t (*next)(int, struct msghdr *, int), int fd, struct msghdr *message,
                      int flags)
{
	ssize_t result;

	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_recvmsg(next, fd, message, flags);
	if (IS_ASKED(fd)) {
		result = next(fd, message, flags);
		return asked_one(fd, result, result < 0 ? NULL : message->msg_name, flags);
	}
	if (!reply_comes(fd, 1, flags))
		return -1;
	result = next(fd, message, flags);
	return traffic_received_parts(
	    fd, result, result ? 1 : room(result, message->msg_iov, message->msg_iovlen), flags,
	    result > 0 ? message->msg_iov : NULL, result > 0 ? message->msg_iovlen : 0);
}

ssize_t read_timed(ssize_t (*next)(int, void *, size_t), int fd, void *data, size_t n)
{
	if (!reply_comes(fd, n, 0))
		return -1;
	return traffic_received(fd, next(fd, data, n), n, 0, data);
}

ssize_t readv_timed(int fd, const struct iovec *parts, int n)
{
	ssize_t result;

	if (!reply_comes_in_parts(fd, parts, n))
		return -1;
	result = real.readv(fd, parts, n);
	return traffic_received_parts(fd, result, room(result, parts, (size_t)n), 0, parts,
	                              result > 0 ? (size_t)n : 0);
}

#ifdef __GLIBC__

/* Too little space is the real call's to find, and to abort for. */
ssize_t recv_chk_timed(int fd, void *data, size_t n, size_t space, int flags)
{
	if (n <= space && !reply_comes(fd, n, flags))
		return -1;
	return traffic_received(fd, real.__recv_chk(fd, data, n, space, flags), n, flags, data);
}

ssize_t recvfrom_chk_timed(int fd, void *data, size_t n, size_t space, int flags,
                           struct sockaddr *from, socklen_t *len)
{
	if (n <= space) {
		if (socket_watched(fd) & WATCH_DATAGRAM)
			return datagram_recvfrom(fd, data, n, flags, from, len);
		if (IS_ASKED(fd))
			return asked_one(fd,
			                 real.__recvfrom_chk(fd, data, n, space, flags, from, len),
			                 from, flags);
		if (!reply_comes(fd, n, flags))
			return -1;
	}
	return traffic_received(fd, real.__recvfrom_chk(fd, data, n, space, flags, from, len), n,
	                        flags, data);
}

ssize_t read_chk_timed(int fd, void *data, size_t n, size_t space)
{
	if (n <= space && !reply_comes(fd, n, 0))
		return -1;
	return traffic_received(fd, real.__read_chk(fd, data, n, space), n, 0, data);
}

#endif
