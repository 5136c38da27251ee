/* SPDX-License-Identifier: MIT */
/* Requests and replies. Every one of these is a load, a branch and a tail call for numbers that are
 * not watched: files, pipes, and connections in the middle of a reply. */
#include "hook/data.h"
#include "hook/hook.h"

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
	return traffic_received(fd, real.recvfrom(fd, data, n, flags, from, len), n, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ssize_t result;

	if (READS(fd))
		return real.recvmsg(fd, message, flags);
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

ssize_t send(int fd, const void *data, size_t n, int flags)
{
	if (WRITES(fd))
		return real.send(fd, data, n, flags);
	return traffic_sent(fd, real.send(fd, data, n, flags), flags, data, n);
}

ssize_t sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to,
               socklen_t len)
{
	if (WRITES(fd))
		return real.sendto(fd, data, n, flags, to, len);
	return traffic_sent(fd, real.sendto(fd, data, n, flags, to, len), flags, data, n);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t result;

	if (WRITES(fd))
		return real.sendmsg(fd, message, flags);
	result = real.sendmsg(fd, message, flags);
	if (result <= 0)
		return traffic_sent(fd, result, flags, NULL, 0);
	return traffic_sent(fd, result, flags, message->msg_iov->iov_base,
	                    message->msg_iov->iov_len);
}

ssize_t write(int fd, const void *data, size_t n)
{
	if (WRITES(fd))
		return real.write(fd, data, n);
	return traffic_sent(fd, real.write(fd, data, n), 0, data, n);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	ssize_t result;

	if (WRITES(fd))
		return real.writev(fd, parts, n);
	result = real.writev(fd, parts, n);
	if (result <= 0)
		return traffic_sent(fd, result, 0, NULL, 0);
	return traffic_sent(fd, result, 0, parts->iov_base, parts->iov_len);
}
