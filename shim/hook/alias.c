/* SPDX-License-Identifier: MIT */
/*
 * Further names of the calls that carry data. Each goes on to the real one of its own name: the
 * checked forms because their checks are the program's, the others because another preload may use
 * them to get past its own hooks (HAZARDS 4), and must not come back to itself through us.
 */
#include "hook/data.h"
#include "hook/datagram_calls.h"
#include "hook/request.h"
#include "hook/timed_reads.h"

#ifdef __GLIBC__

ssize_t __recv_chk(int fd, void *data, size_t n, size_t space, int flags)
{
	if (READ_UNWATCHED(fd))
		return real.__recv_chk(fd, data, n, space, flags);
	if (IS_TIMED(socket_watched(fd)))
		return recv_chk_timed(fd, data, n, space, flags);
	return traffic_received(fd, real.__recv_chk(fd, data, n, space, flags), n, flags, data);
}

ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t space, int flags, struct sockaddr *from,
                       socklen_t *len)
{
	if (READ_UNWATCHED(fd))
		return real.__recvfrom_chk(fd, data, n, space, flags, from, len);
	if (IS_TIMED(socket_watched(fd)))
		return recvfrom_chk_timed(fd, data, n, space, flags, from, len);
	return traffic_received(fd, real.__recvfrom_chk(fd, data, n, space, flags, from, len), n,
	                        flags, data);
}

ssize_t __read_chk(int fd, void *data, size_t n, size_t space)
{
	if (READ_UNWATCHED(fd))
		return real.__read_chk(fd, data, n, space);
	if (IS_TIMED(socket_watched(fd)))
		return read_chk_timed(fd, data, n, space);
	return traffic_received(fd, real.__read_chk(fd, data, n, space), n, 0, data);
}

ssize_t __read(int fd, void *data, size_t n)
{
	if (READ_UNWATCHED(fd))
		return real.__read(fd, data, n);
	if (IS_TIMED(socket_watched(fd)))
		return read_timed(real.__read, fd, data, n);
	return traffic_received(fd, real.__read(fd, data, n), n, 0, data);
}

ssize_t __send(int fd, const void *data, size_t n, int flags)
{
	if (WRITE_UNWATCHED(fd))
		return real.__send(fd, data, n, flags);
	return send_watched(real.__send, fd, data, n, flags);
}

ssize_t __write(int fd, const void *data, size_t n)
{
	if (WRITE_UNWATCHED(fd))
		return real.__write(fd, data, n);
	return write_watched(real.__write, fd, data, n);
}

static __attribute__((noinline)) ssize_t sendfile64_watched(int to, int from, off64_t *offset,
                                                            size_t n)
{
	uint32_t fingerprint = 0;
	ssize_t result;

	if (REQUEST_REFUSED(to, &fingerprint, 0, n, &result))
		return file_refused(result);
	return traffic_sent(to, real.sendfile64(to, from, offset, n), 0, fingerprint);
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t n)
{
	if (WRITE_UNWATCHED(to))
		return real.sendfile64(to, from, offset, n);
	return sendfile64_watched(to, from, offset, n);
}

#endif
