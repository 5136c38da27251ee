/* SPDX-License-Identifier: MIT */
/* Requests and replies, and requests that open their connection (TCP Fast Open). Every one of these
 * is a load, a branch and a tail call for numbers that are not watched: files, pipes, and
 * connections in the middle of a reply. */
#include "hook/data.h"

#include "conn/passed.h"
#include "conn/settle.h"
#include "hook/datagram_calls.h"
#include "hook/hook.h"
#include "hook/opening.h"
#include "hook/request.h"
#include "hook/timed_reads.h"
#include "sys/memory.h"

ssize_t recv(int fd, void *data, size_t n, int flags)
{
	unsigned int watched = socket_watched(fd);

	if (likely(!(watched & WATCH_READ)))
		return real.recv(fd, data, n, flags);
	if (IS_TIMED(watched))
		return recv_timed(real.recv, fd, data, n, flags);
	return traffic_received(fd, real.recv(fd, data, n, flags), n, flags, data);
}

ssize_t recvfrom(int fd, void *data, size_t n, int flags, struct sockaddr *from, socklen_t *len)
{
	unsigned int watched = socket_watched(fd);

	if (likely(!(watched & WATCH_READ)))
		return real.recvfrom(fd, data, n, flags, from, len);
	if (IS_TIMED(watched))
		return recvfrom_timed(fd, data, n, flags, from, len);
	return traffic_received(fd, real.recvfrom(fd, data, n, flags, from, len), n, flags, data);
}

static inline ssize_t recvmsg_by(ssize_t (*next)(int, struct msghdr *, int), int fd,
                                 struct msghdr *message, int flags)
{
	unsigned int watched = socket_watched(fd);
	ssize_t result;

	if (likely(!(watched & WATCH_READ))) {
		result = next(fd, message, flags);
		if (result > 0 && message->msg_controllen)
			passed_look(message);
		return result;
	}
	if (IS_TIMED(watched))
		return recvmsg_timed(next, fd, message, flags);
	result = next(fd, message, flags);
	return traffic_received_parts(
	    fd, result, result ? 1 : room(result, message->msg_iov, message->msg_iovlen), flags,
	    result > 0 ? message->msg_iov : NULL, result > 0 ? message->msg_iovlen : 0);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return recvmsg_by(real.recvmsg, fd, message, flags);
}

#if TIME64_NAMES
ssize_t __recvmsg64(int fd, struct msghdr *message, int flags)
{
	return recvmsg_by(real.__recvmsg64, fd, message, flags);
}
#endif

ssize_t read(int fd, void *data, size_t n)
{
	unsigned int watched = socket_watched(fd);

	if (likely(!(watched & WATCH_READ)))
		return real.read(fd, data, n);
	if (IS_TIMED(watched))
		return read_timed(real.read, fd, data, n);
	return traffic_received(fd, real.read(fd, data, n), n, 0, data);
}

ssize_t readv(int fd, const struct iovec *parts, int n)
{
	unsigned int watched = socket_watched(fd);
	ssize_t result;

	if (likely(!(watched & WATCH_READ)))
		return real.readv(fd, parts, n);
	if (IS_TIMED(watched))
		return readv_timed(fd, parts, n);
	result = real.readv(fd, parts, n);
	return traffic_received_parts(fd, result, room(result, parts, (size_t)n), 0, parts,
	                              result > 0 ? (size_t)n : 0);
}

/* An attempt as connect() is. Apart, like its twin, so that no other send pays for its frame. */
static __attribute__((noinline)) ssize_t open_to(int fd, const void *data, size_t n, int flags,
                                                 const struct sockaddr *to, socklen_t len)
{
	struct attempt try;
	ssize_t result;
	uint32_t fingerprint;

	if (!attempt_begin_send(&try, fd, flags, to, len)) {
		if (WRITE_UNWATCHED(fd))
			return real.sendto(fd, data, n, flags, to, len);
		fingerprint = traffic_look(fd, data, n);
		return traffic_sent(fd, real.sendto(fd, data, n, flags, to, len), flags,
		                    fingerprint);
	}
	if (!opening_goes(&try))
		return attempt_refused(&try);
	fingerprint = traffic_look(fd, data, n);
	do
		result = real.sendto(fd, data, n, flags, to, len);
	while (timeouts_again(&try, result));
	return attempt_settle_send(&try, result, fingerprint);
}

static __attribute__((noinline)) ssize_t open_with(int fd, const struct msghdr *message, int flags)
{
	struct attempt try;
	ssize_t result;
	uint32_t fingerprint;

	if (!memory_may_be_there(message) ||
	    !attempt_begin_send(&try, fd, flags, message->msg_name, message->msg_namelen)) {
		if (WRITE_UNWATCHED(fd))
			return real.sendmsg(fd, message, flags);
		fingerprint = traffic_look_message(fd, message);
		return traffic_sent(fd, real.sendmsg(fd, message, flags), flags, fingerprint);
	}
	if (!opening_goes(&try))
		return attempt_refused(&try);
	fingerprint = traffic_look_message(fd, message);
	do
		result = real.sendmsg(fd, message, flags);
	while (timeouts_again(&try, result));
	return attempt_settle_send(&try, result, fingerprint);
}

/* Apart, so that numbers which are not watched pay for no frame. */
ssize_t send_watched(ssize_t (*next)(int, const void *, size_t, int), int fd, const void *data,
                     size_t n, int flags)
{
	ssize_t result;
	uint32_t fingerprint;

	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_send(fd, data, n, flags);
	fingerprint = traffic_look(fd, data, n);
	if (n && REQUEST_REFUSED(fd, &fingerprint, flags, n, &result))
		return result;
	return traffic_sent(fd, traffic_wrote(fd, next(fd, data, n, flags), data), flags,
	                    fingerprint);
}

ssize_t send(int fd, const void *data, size_t n, int flags)
{
	if (WRITE_UNWATCHED(fd))
		return real.send(fd, data, n, flags);
	if (traffic_begins(fd))
		return traffic_went(fd, real.send(fd, data, n, flags), flags);
	return send_watched(real.send, fd, data, n, flags);
}

static __attribute__((noinline)) ssize_t sendto_watched(int fd, const void *data, size_t n,
                                                        int flags, const struct sockaddr *to,
                                                        socklen_t len)
{
	ssize_t result;
	uint32_t fingerprint;

	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_sendto(fd, data, n, flags, to, len);
	if (flags & MSG_FASTOPEN)
		return open_to(fd, data, n, flags, to, len);
	if (traffic_begins(fd))
		return traffic_went(fd, real.sendto(fd, data, n, flags, to, len), flags);
	fingerprint = traffic_look(fd, data, n);
	if (n && REQUEST_REFUSED(fd, &fingerprint, flags, n, &result))
		return result;
	result = real.sendto(fd, data, n, flags, to, len);
	return traffic_sent(fd, traffic_wrote(fd, result, data), flags, fingerprint);
}

ssize_t sendto(int fd, const void *data, size_t n, int flags, const struct sockaddr *to,
               socklen_t len)
{
	if (WRITE_UNWATCHED(fd) && likely(!(flags & MSG_FASTOPEN)))
		return real.sendto(fd, data, n, flags, to, len);
	return sendto_watched(fd, data, n, flags, to, len);
}

static __attribute__((noinline)) ssize_t sendmsg_watched(ssize_t (*next)(int, const struct msghdr *,
                                                                         int),
                                                         int fd, const struct msghdr *message,
                                                         int flags)
{
	ssize_t result;
	uint32_t fingerprint;

	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_sendmsg(fd, message, flags);
	if (flags & MSG_FASTOPEN)
		return open_with(fd, message, flags);
	if (traffic_begins(fd))
		return traffic_went(fd, next(fd, message, flags), flags);
	fingerprint = traffic_look_message(fd, message);
	if (REQUEST_REFUSED(fd, &fingerprint, flags, message_size(message), &result))
		return result;
	return traffic_sent(fd, next(fd, message, flags), flags, fingerprint);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	if (WRITE_UNWATCHED(fd) && likely(!(flags & MSG_FASTOPEN)))
		return real.sendmsg(fd, message, flags);
	return sendmsg_watched(real.sendmsg, fd, message, flags);
}

#if TIME64_NAMES
/* The same call in glibc: nothing that is sent has a time in it. */
ssize_t __sendmsg64(int fd, const struct msghdr *message, int flags)
{
	if (WRITE_UNWATCHED(fd) && likely(!(flags & MSG_FASTOPEN)))
		return real.__sendmsg64(fd, message, flags);
	return sendmsg_watched(real.__sendmsg64, fd, message, flags);
}
#endif

ssize_t write_watched(ssize_t (*next)(int, const void *, size_t), int fd, const void *data,
                      size_t n)
{
	ssize_t result;
	uint32_t fingerprint;

	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_write(fd, data, n);
	fingerprint = traffic_look(fd, data, n);
	if (n && REQUEST_REFUSED(fd, &fingerprint, 0, n, &result))
		return result;
	return traffic_sent(fd, traffic_wrote(fd, next(fd, data, n), data), 0, fingerprint);
}

ssize_t write(int fd, const void *data, size_t n)
{
	if (WRITE_UNWATCHED(fd))
		return real.write(fd, data, n);
	if (traffic_begins(fd))
		return traffic_went(fd, real.write(fd, data, n), 0);
	return write_watched(real.write, fd, data, n);
}

static __attribute__((noinline)) ssize_t writev_watched(int fd, const struct iovec *parts, int n)
{
	size_t count = n < 0 ? 0 : (size_t)n;
	ssize_t result;
	uint32_t fingerprint;

	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_writev(fd, parts, n);
	if (traffic_begins(fd))
		return traffic_went(fd, real.writev(fd, parts, n), 0);
	fingerprint = traffic_look_parts(fd, parts, count);
	if (REQUEST_REFUSED(fd, &fingerprint, 0, parts_size(parts, count), &result))
		return result;
	return traffic_sent(fd, real.writev(fd, parts, n), 0, fingerprint);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	if (WRITE_UNWATCHED(fd))
		return real.writev(fd, parts, n);
	return writev_watched(fd, parts, n);
}
