/* SPDX-License-Identifier: MIT */
/* Requests and replies, and requests that open their connection (TCP Fast Open). Every one of these
 * is a load, a branch and a tail call for numbers that are not watched: files, pipes, and
 * connections in the middle of a reply. */
#include "hook/data.h"
#include "hook/datagram.h"
#include "hook/hook.h"
#include "pace/pace.h"

ssize_t recv(int fd, void *data, size_t n, int flags)
{
	if (READS(fd))
		return real.recv(fd, data, n, flags);
	return traffic_received(fd, real.recv(fd, data, n, flags), n, flags);
}

ssize_t recvfrom(int fd, void *data, size_t n, int flags, struct sockaddr *from, socklen_t *len)
{
	if (READS(fd))
		return real.recvfrom(fd, data, n, flags, from, len);
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_recvfrom(fd, data, n, flags, from, len);
	return traffic_received(fd, real.recvfrom(fd, data, n, flags, from, len), n, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t result;

	if (READS(fd))
		return real.recvmsg(fd, message, flags);
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_recvmsg(fd, message, flags);
	result = real.recvmsg(fd, message, flags);
	return traffic_received(
	    fd, result, result ? 1 : room(result, message->msg_iov, message->msg_iovlen), flags);
}

ssize_t read(int fd, void *data, size_t n)
{
	if (READS(fd))
		return real.read(fd, data, n);
	return traffic_received(fd, real.read(fd, data, n), n, 0);
}

ssize_t readv(int fd, const struct iovec *parts, int n)
{
	ssize_t result;

	if (READS(fd))
		return real.readv(fd, parts, n);
	result = real.readv(fd, parts, n);
	return traffic_received(fd, result, room(result, parts, (size_t)n), 0);
}

/* Of the message's parts the first one tells; the kernel has read them if anything was sent. */
static ssize_t message_sent(int fd, ssize_t result, int flags, const struct msghdr *message)
{
	if (result <= 0)
		return traffic_sent(fd, result, flags, NULL, 0);
	return traffic_sent(fd, result, flags, message->msg_iov->iov_base,
	                    message->msg_iov->iov_len);
}

/* An attempt as connect() is. Apart, like its twin, so that no other send pays for its frame. */
static __attribute__((noinline)) ssize_t open_to(int fd, const void *data, size_t n, int flags,
                                                 const struct sockaddr *to, socklen_t len)
{
	struct attempt try;

	if (!attempt_begin_send(&try, fd, flags, to, len)) {
		if (WRITES(fd))
			return real.sendto(fd, data, n, flags, to, len);
		return traffic_sent(fd, real.sendto(fd, data, n, flags, to, len), flags, data, n);
	}
	if (!pace(&try))
		return attempt_refused(&try);
	attempt_start(&try);
	return attempt_settle_send(&try, real.sendto(fd, data, n, flags, to, len), data, n);
}

static __attribute__((noinline)) ssize_t open_with(int fd, const struct msghdr *message, int flags)
{
	struct attempt try;
	ssize_t result;

	if (!is_readable(message) ||
	    !attempt_begin_send(&try, fd, flags, message->msg_name, message->msg_namelen)) {
		if (WRITES(fd))
			return real.sendmsg(fd, message, flags);
		return message_sent(fd, real.sendmsg(fd, message, flags), flags, message);
	}
	if (!pace(&try))
		return attempt_refused(&try);
	attempt_start(&try);
	result = real.sendmsg(fd, message, flags);
	if (result <= 0)
		return attempt_settle_send(&try, result, NULL, 0);
	return attempt_settle_send(&try, result, message->msg_iov->iov_base,
	                           message->msg_iov->iov_len);
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
	if (WRITES(fd))
		return real.send(fd, data, n, flags);
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_send(fd, data, n, flags);
	return traffic_sent(fd, real.send(fd, data, n, flags), flags, data, n);
}

ssize_t sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to,
               socklen_t len)
{
	if (WRITES(fd) && likely(!(flags & MSG_FASTOPEN)))
		return real.sendto(fd, data, n, flags, to, len);
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_sendto(fd, data, n, flags, to, len);
	if (flags & MSG_FASTOPEN)
		return open_to(fd, data, n, flags, to, len);
	return traffic_sent(fd, real.sendto(fd, data, n, flags, to, len), flags, data, n);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (WRITES(fd) && likely(!(flags & MSG_FASTOPEN)))
		return real.sendmsg(fd, message, flags);
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_sendmsg(fd, message, flags);
	if (flags & MSG_FASTOPEN)
		return open_with(fd, message, flags);
	return message_sent(fd, real.sendmsg(fd, message, flags), flags, message);
}

ssize_t write(int fd, const void *data, size_t n)
{
	if (WRITES(fd))
		return real.write(fd, data, n);
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_write(fd, data, n);
	return traffic_sent(fd, real.write(fd, data, n), 0, data, n);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	ssize_t result;

	if (WRITES(fd))
		return real.writev(fd, parts, n);
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_writev(fd, parts, n);
	result = real.writev(fd, parts, n);
	if (result <= 0)
		return traffic_sent(fd, result, 0, NULL, 0);
	return traffic_sent(fd, result, 0, parts->iov_base, parts->iov_len);
}
