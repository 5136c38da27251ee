/* SPDX-License-Identifier: MIT */
/* Requests by datagram. Each is an attempt as a connect is, and never told an error: it is held,
 * goes, or is dropped as if the network had. */
#include "hook/datagram_calls.h"

#include "conn/datagram.h"
#include "conn/datagram_end.h"
#include "hook/hook.h"
#include "pace/pace.h"
#include "sys/memory.h"

#include <errno.h>
#include <limits.h>

static struct iovec part_of(const void *data, size_t n)
{
	return (struct iovec) { .iov_base = (void *)(uintptr_t)data, .iov_len = n };
}

ssize_t datagram_send(int fd, const void *data, size_t n, int flags)
{
	struct iovec part = part_of(data, n);
	struct datagram datagram;

	if (!datagram_begin(&datagram, fd, &part, 1, flags, NULL, 0))
		return real.send(fd, data, n, flags);
	if (!pace(&datagram.try))
		return datagram_swallowed(&datagram);
	return datagram_settle(&datagram, real.send(fd, data, n, flags));
}

ssize_t datagram_sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to,
                        socklen_t len)
{
	struct iovec part = part_of(data, n);
	struct datagram datagram;

	if (!datagram_begin(&datagram, fd, &part, 1, flags, to, len))
		return real.sendto(fd, data, n, flags, to, len);
	if (!pace(&datagram.try))
		return datagram_swallowed(&datagram);
	return datagram_settle(&datagram, real.sendto(fd, data, n, flags, to, len));
}

ssize_t datagram_sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct datagram datagram;

	if (!memory_may_be_there(message) ||
	    !datagram_begin(&datagram, fd, message->msg_iov, message->msg_iovlen, flags,
	                    message->msg_namelen ? message->msg_name : NULL, message->msg_namelen))
		return real.sendmsg(fd, message, flags);
	if (!pace(&datagram.try))
		return datagram_swallowed(&datagram);
	return datagram_settle(&datagram, real.sendmsg(fd, message, flags));
}

ssize_t datagram_write(int fd, const void *data, size_t n)
{
	struct iovec part = part_of(data, n);
	struct datagram datagram;

	if (!datagram_begin(&datagram, fd, &part, 1, 0, NULL, 0))
		return real.write(fd, data, n);
	if (!pace(&datagram.try))
		return datagram_swallowed(&datagram);
	return datagram_settle(&datagram, real.write(fd, data, n));
}

ssize_t datagram_writev(int fd, const struct iovec *parts, int n)
{
	struct datagram datagram;

	if (!datagram_begin(&datagram, fd, parts, n < 0 ? SIZE_MAX : (size_t)n, 0, NULL, 0))
		return real.writev(fd, parts, n);
	if (!pace(&datagram.try))
		return datagram_swallowed(&datagram);
	return datagram_settle(&datagram, real.writev(fd, parts, n));
}

ssize_t datagram_recvfrom(int fd, void *data, size_t n, int flags, struct sockaddr *from,
                          socklen_t *len)
{
	/* The kernel makes of *len how much it would have written. */
	socklen_t room = from && memory_may_be_there(len) ? *len : 0;
	ssize_t result = real.recvfrom(fd, data, n, flags, from, len);
	bool told = result >= 0 && room > 0;
	struct iovec part = { data, n };

	return datagram_received(fd, result, flags, told ? from : NULL,
	                         !told || room < *len ? room : *len, &part, 1);
}

ssize_t datagram_recvmsg(ssize_t (*next)(int, struct msghdr *, int), int fd, struct msghdr *message,
                         int flags)
{
	socklen_t room = memory_may_be_there(message) ? message->msg_namelen : 0;
	ssize_t result = next(fd, message, flags);
	bool told = result >= 0 && room > 0 && message->msg_name;

	return datagram_received(fd, result, flags, told ? message->msg_name : NULL,
	                         !told || room < message->msg_namelen ? room : message->msg_namelen,
	                         result < 0 ? NULL : message->msg_iov,
	                         result < 0 ? 0 : message->msg_iovlen);
}

int datagram_sendmmsg(int fd, struct mmsghdr *messages, unsigned int n, int flags)
{
	unsigned int sent = 0;
	int saved = errno;

	/* libuv asks with no messages at all whether the call is there. */
	if (n == 0 || !memory_may_be_there(messages))
		return real.sendmmsg(fd, messages, n, (MMSG_FLAGS)flags);
	if (n > IOV_MAX)
		n = IOV_MAX;
	for (; sent < n; sent++) {
		ssize_t result = datagram_sendmsg(fd, &messages[sent].msg_hdr, flags);

		if (result < 0)
			break;
		messages[sent].msg_len = (unsigned int)result;
	}
	if (sent == 0)
		return -1;
	errno = saved; /* what the next one met is not told */
	return (int)sent;
}

int datagram_recvmmsg(int fd, int result, const struct mmsghdr *messages, int flags)
{
	for (int i = 0; i < result; i++) {
		const struct msghdr *one = &messages[i].msg_hdr;

		datagram_received(fd, (ssize_t)messages[i].msg_len, flags, one->msg_name,
		                  one->msg_namelen, one->msg_iov, one->msg_iovlen);
	}
	if (result < 0)
		datagram_received(fd, result, flags, NULL, 0, NULL, 0);
	return result;
}
