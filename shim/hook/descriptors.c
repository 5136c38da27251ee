/* SPDX-License-Identifier: MIT */
/*
 * Numbers given out, doubled and given up. What is known of a number is settled before the real
 * close: afterwards another thread may have been given it (HAZARDS 25).
 */
#include "config/current.h"
#include "conn/attempt.h"
#include "conn/attempt_end.h"
#include "hook/hook.h"
#include "region/state.h"
#include "sys/thread.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>

static inline int close_by(int (*next)(int), int fd)
{
	if (socket_watched(fd))
		attempt_end(fd);
	return next(fd);
}

int close(int fd)
{
	return close_by(real.close, fd);
}

int shutdown(int fd, int how)
{
	if (socket_watched(fd) & WATCH_END)
		attempt_hung_up(fd, how);
	return real.shutdown(fd, how);
}

static inline int fclose_by(int (*next)(FILE *), FILE *stream)
{
	int saved = errno, fd = stream ? fileno(stream) : -1;

	errno = saved;
	if (socket_watched(fd))
		attempt_end(fd);
	return next(stream);
}

int fclose(FILE *stream)
{
	return fclose_by(real.fclose, stream);
}

/* fd was duplicated to `to`, if that is not -1. */
static inline int doubled(int fd, int to)
{
	if (to >= 0 && (socket_watched(fd) || socket_watched(to)))
		socket_duplicated(fd, to);
	return to;
}

int dup(int fd)
{
	return doubled(fd, real.dup(fd));
}

/* Before `to` is made another number of fd: ends what it was. False: nothing is to end or to be
 * copied, for a proxy inside this thread's connect puts its own socket in the place of `to`. */
static inline bool end_under(int fd, int to)
{
	if (fd == to || !socket_watched(to))
		return true;
	if (attempt_is_calling(to))
		return false;
	attempt_end(to);
	return true;
}

int dup2(int fd, int to)
{
	if (!end_under(fd, to))
		return real.dup2(fd, to);
	return doubled(fd, real.dup2(fd, to));
}

int dup3(int fd, int to, int flags)
{
	if (!end_under(fd, to))
		return real.dup3(fd, to, flags);
	return doubled(fd, real.dup3(fd, to, flags));
}

/* The third argument goes on as it came; only the two commands that make a number are looked at. */
static inline int fcntl_by(int (*next)(int, int, long), int fd, int command, long argument)
{
	if (likely(command != F_DUPFD && command != F_DUPFD_CLOEXEC))
		return next(fd, command, argument);
	return doubled(fd, next(fd, command, argument));
}

int fcntl_hook(int fd, int command, long argument)
{
	return fcntl_by(real.fcntl, fd, command, argument);
}

/* What is watched on a new socket. SOCK_SEQPACKET of the internet families is SCTP, whatever the
 * protocol says. */
static inline unsigned int watch_of(int domain, int kind, int protocol)
{
	bool inet = domain == AF_INET || domain == AF_INET6;

	if (kind == SOCK_STREAM ? domain == AF_UNIX || (inet && protocol != IPPROTO_SCTP)
	                        : kind == SOCK_SEQPACKET && domain == AF_UNIX)
		return WATCH_STREAM;
	if (inet && kind == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP))
		return WATCH_OTHER | (config_current()->datagrams ? WATCH_DATAGRAM : WATCH_SERVER);
	return WATCH_OTHER;
}

int socket(int domain, int type, int protocol)
{
	int fd = real.socket(domain, type, protocol);

	if (fd >= 0 && shim_ready())
		socket_created(fd, watch_of(domain, type & 0xf, protocol));
	return fd;
}

#if GLIBC_SINCE(2, 34)

/* Only as far as anything is known: daemons and children name ~0 for the last. A vfork child closes
 * numbers of its own, and what is known in this memory is its parent's. */
static void end_all(unsigned int first, unsigned int last)
{
	unsigned int limit = socket_limit();

	if (first >= limit || thread_is_borrowed())
		return;
	for (unsigned int fd = first; fd < limit && fd <= last; fd++)
		if (socket_watched((int)fd))
			attempt_end((int)fd);
}

/* With CLOSE_RANGE_CLOEXEC nothing is closed; with CLOSE_RANGE_UNSHARE only for this thread, while
 * the others, whose table this is too, keep their numbers. Flags that we do not know we leave to
 * the kernel. */
int close_range(unsigned int first, unsigned int last, int flags)
{
	if (flags == 0)
		end_all(first, last);
	return real.close_range(first, last, flags);
}

void closefrom(int first)
{
	end_all(first < 0 ? 0 : (unsigned int)first, UINT_MAX);
	real.closefrom(first);
}

#endif

#ifdef __GLIBC__

int __close(int fd)
{
	return close_by(real.__close, fd);
}

int _IO_fclose(FILE *stream)
{
	return fclose_by(real._IO_fclose, stream);
}

int __dup2(int fd, int to)
{
	if (!end_under(fd, to))
		return real.__dup2(fd, to);
	return doubled(fd, real.__dup2(fd, to));
}

int __fcntl_hook(int fd, int command, long argument)
{
	return fcntl_by(real.__fcntl, fd, command, argument);
}

#if GLIBC_SINCE(2, 28)
int fcntl64_hook(int fd, int command, long argument)
{
	return fcntl_by(real.fcntl64, fd, command, argument);
}
#endif

#if TIME64_NAMES
int __fcntl_time64_hook(int fd, int command, long argument)
{
	return fcntl_by(real.__fcntl_time64, fd, command, argument);
}
#endif

#endif
