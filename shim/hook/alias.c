/* SPDX-License-Identifier: MIT */
/*
 * Further names of the calls that carry data. Each goes on to the real one of its own name: the
 * checked forms because their checks are the host's, the others because another preload may use
 * them to get past its own hooks (TRAPS A1.4), and must not come back to itself through us.
 */
#include "hook/data.h"
#include "hook/datagram.h"

#ifdef __GLIBC__

ssize_t __recv_chk(int fd, void *data, size_t n, size_t space, int flags)
{
	if (READS(fd))
		return real.__recv_chk(fd, data, n, space, flags);
	return traffic_received(fd, real.__recv_chk(fd, data, n, space, flags), n, flags);
}

ssize_t __recvfrom_chk(int fd, void *data, size_t n, size_t space, int flags, struct sockaddr *from,
                       socklen_t *len)
{
	if (READS(fd))
		return real.__recvfrom_chk(fd, data, n, space, flags, from, len);
	if (socket_watched(fd) & WATCH_DATAGRAM && n <= space)
		return datagram_recvfrom(fd, data, n, flags, from, len);
	return traffic_received(fd, real.__recvfrom_chk(fd, data, n, space, flags, from, len), n,
	                        flags);
}

ssize_t __read_chk(int fd, void *data, size_t n, size_t space)
{
	if (READS(fd))
		return real.__read_chk(fd, data, n, space);
	return traffic_received(fd, real.__read_chk(fd, data, n, space), n, 0);
}

ssize_t __read(int fd, void *data, size_t n)
{
	if (READS(fd))
		return real.__read(fd, data, n);
	return traffic_received(fd, real.__read(fd, data, n), n, 0);
}

ssize_t __send(int fd, const void *data, size_t n, int flags)
{
	uint32_t print;

	if (WRITES(fd))
		return real.__send(fd, data, n, flags);
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_send(fd, data, n, flags);
	print = traffic_look(fd, data, n);
	return traffic_sent(fd, real.__send(fd, data, n, flags), flags, print);
}

ssize_t __write(int fd, const void *data, size_t n)
{
	uint32_t print;

	if (WRITES(fd))
		return real.__write(fd, data, n);
	if (socket_watched(fd) & WATCH_DATAGRAM)
		return datagram_write(fd, data, n);
	print = traffic_look(fd, data, n);
	return traffic_sent(fd, real.__write(fd, data, n), 0, print);
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t n)
{
	if (WRITES(to))
		return real.sendfile64(to, from, offset, n);
	return traffic_sent(to, real.sendfile64(to, from, offset, n), 0, 0);
}

#endif
