/* SPDX-License-Identifier: MIT */
/*
 * Data by other ways than a buffer: several messages at once, a file, a pipe. What is not a watched
 * connection pays a load and a branch, as in data.c.
 */
#include "conn/asked_by.h"
#include "hook/data.h"
#include "hook/datagram_calls.h"
#include "hook/request.h"
#include "pace/reply_timeout.h"

#include <errno.h>

/* Partly sent counts as sent: the first message with anything in it tells. */
static __attribute__((noinline)) int sendmmsg_watched(int (*next)(int, struct mmsghdr *,
                                                                  unsigned int, MMSG_FLAGS),
                                                      int fd, struct mmsghdr *messages,
                                                      unsigned int n, MMSG_FLAGS flags)
{
	int result, first = 0;
	ssize_t refused;
	uint32_t fingerprint;

	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_sendmmsg(fd, messages, n, (int)flags);
	fingerprint = n ? traffic_look_message(fd, &messages->msg_hdr) : 0;
	if (n && REQUEST_REFUSED(fd, &fingerprint, (int)flags, message_size(&messages->msg_hdr),
	                         &refused)) {
		if (refused >= 0)
			messages->msg_len = (unsigned int)refused;
		return refused < 0 ? -1 : 1;
	}
	result = next(fd, messages, n, flags);
	while (first < result && messages[first].msg_len == 0)
		first++;
	if (first < result)
		traffic_sent(fd, (ssize_t)messages[first].msg_len, (int)flags, fingerprint);
	else
		traffic_sent(fd, result < 0 ? result : 0, (int)flags, fingerprint);
	return result;
}

int sendmmsg(int fd, struct mmsghdr *messages, unsigned int n, MMSG_FLAGS flags)
{
	if (WRITE_UNWATCHED(fd))
		return real.sendmmsg(fd, messages, n, flags);
	return sendmmsg_watched(real.sendmmsg, fd, messages, n, flags);
}

#if TIME64_NAMES
int __sendmmsg64(int fd, struct mmsghdr *messages, unsigned int n, int flags)
{
	if (WRITE_UNWATCHED(fd))
		return real.__sendmmsg64(fd, messages, n, flags);
	return sendmmsg_watched(real.__sendmmsg64, fd, messages, n, flags);
}
#endif

/* On a stream that has ended the kernel fills all the messages there are, each with nothing: the
 * first one tells. */
static int batch_received(int fd, int result, const struct mmsghdr *messages, MMSG_FLAGS flags)
{
	ssize_t bytes;

	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_recvmmsg(fd, result, messages, (int)flags);
	if (result == 0)
		return result;
	if (socket_may_be_asked(socket_watched(fd))) {
		if (result > 0)
			asked_by_datagrams(fd, result, messages->msg_hdr.msg_name, (int)flags);
		return result;
	}
	bytes = result < 0 ? -1 : (ssize_t)messages->msg_len;
	traffic_received_parts(
	    fd, bytes,
	    bytes ? 1 : room(bytes, messages->msg_hdr.msg_iov, messages->msg_hdr.msg_iovlen),
	    (int)flags, bytes > 0 ? messages->msg_hdr.msg_iov : NULL,
	    bytes > 0 ? messages->msg_hdr.msg_iovlen : 0);
	return result;
}

/* Apart, as in timed_reads.c. */
static __attribute__((noinline)) int recvmmsg_timed(int fd, struct mmsghdr *messages,
                                                    unsigned int n, MMSG_FLAGS flags,
                                                    struct timespec *timeout)
{
	if (!reply_comes(fd, n, (int)flags))
		return -1;
	return batch_received(fd, real.recvmmsg(fd, messages, n, flags, timeout), messages, flags);
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned int n, MMSG_FLAGS flags,
             struct timespec *timeout)
{
	if (READ_UNWATCHED(fd))
		return real.recvmmsg(fd, messages, n, flags, timeout);
	if (IS_TIMED(socket_watched(fd)))
		return recvmmsg_timed(fd, messages, n, flags, timeout);
	return batch_received(fd, real.recvmmsg(fd, messages, n, flags, timeout), messages, flags);
}

#if TIME64_NAMES
int __recvmmsg64(int fd, struct mmsghdr *messages, unsigned int n, int flags, void *timeout)
{
	if (READ_UNWATCHED(fd))
		return real.__recvmmsg64(fd, messages, n, flags, timeout);
	if (IS_TIMED(socket_watched(fd)) && !reply_comes(fd, n, (int)flags))
		return -1;
	return batch_received(fd, real.__recvmmsg64(fd, messages, n, flags, timeout), messages,
	                      flags);
}
#endif

/* Apart, so that files pay for no frame. */
static __attribute__((noinline)) ssize_t sendfile_watched(int to, int from, off_t *offset, size_t n)
{
	uint32_t fingerprint = 0;
	ssize_t result;

	if (REQUEST_REFUSED(to, &fingerprint, 0, n, &result))
		return file_refused(result);
	return traffic_sent(to, real.sendfile(to, from, offset, n), 0, fingerprint);
}

ssize_t sendfile(int to, int from, off_t *offset, size_t n)
{
	if (WRITE_UNWATCHED(to))
		return real.sendfile(to, from, offset, n);
	return sendfile_watched(to, from, offset, n);
}

/* One end is a pipe. That it is full, empty or broken says nothing of the connection at the other
 * end, so EAGAIN is never a timeout here (MSG_DONTWAIT), nor EPIPE on the way out of a connection a
 * reset. */
static __attribute__((noinline)) ssize_t splice_watched(int from, loff_t *from_offset, int to,
                                                        loff_t *to_offset, size_t n,
                                                        unsigned int flags)
{
	uint32_t fingerprint = 0;
	ssize_t result;

	if (!WRITE_UNWATCHED(to) && REQUEST_REFUSED(to, &fingerprint, 0, n, &result))
		return file_refused(result);
	if (!READ_UNWATCHED(from) && IS_TIMED(socket_watched(from)) &&
	    !(flags & SPLICE_F_NONBLOCK) && !reply_comes(from, n, 0))
		return -1;
	result = real.splice(from, from_offset, to, to_offset, n, flags);
	if (!WRITE_UNWATCHED(to))
		return traffic_sent(to, result, MSG_DONTWAIT, fingerprint);
	if (result < 0 && errno == EPIPE)
		return result;
	return traffic_received(from, result, n, MSG_DONTWAIT, NULL);
}

ssize_t splice(int from, loff_t *from_offset, int to, loff_t *to_offset, size_t n,
               unsigned int flags)
{
	if (READ_UNWATCHED(from) && WRITE_UNWATCHED(to))
		return real.splice(from, from_offset, to, to_offset, n, flags);
	return splice_watched(from, from_offset, to, to_offset, n, flags);
}
