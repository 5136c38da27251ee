/* SPDX-License-Identifier: MIT */
/*
 * Numbers given out, doubled and given up. What is known of a number is settled before the real
 * close: afterwards another thread may have been given it (TRAPS A4.2).
 */
#include "hook/hook.h"
#include "track/attempt.h"
#include "track/state.h"
#include "track/thread.h"

#include <errno.h>
#include <netinet/in.h>

int close(int fd)
{
	if (socket_watched(fd))
		attempt_end(fd);
	return real.close(fd);
}

int shutdown(int fd, int how)
{
	if (socket_watched(fd) & WATCH_END)
		attempt_hung_up(fd, how);
	return real.shutdown(fd, how);
}

int fclose(FILE *stream)
{
	int saved = errno, fd = stream ? fileno(stream) : -1;

	errno = saved;
	if (socket_watched(fd))
		attempt_end(fd);
	return real.fclose(stream);
}

int dup(int fd)
{
	int to = real.dup(fd);

	if (to >= 0 && (socket_watched(fd) || socket_watched(to)))
		socket_duplicated(fd, to);
	return to;
}

int dup2(int fd, int to)
{
	int result;

	if (fd != to && socket_watched(to))
		attempt_end(to);
	result = real.dup2(fd, to);
	if (result >= 0 && (socket_watched(fd) || socket_watched(to)))
		socket_duplicated(fd, to);
	return result;
}

int dup3(int fd, int to, int flags)
{
	int result;

	if (fd != to && socket_watched(to))
		attempt_end(to);
	result = real.dup3(fd, to, flags);
	if (result >= 0 && (socket_watched(fd) || socket_watched(to)))
		socket_duplicated(fd, to);
	return result;
}

int socket(int domain, int type, int protocol)
{
	int fd = real.socket(domain, type, protocol), kind = type & 0xf;
	bool stream = (domain == AF_INET || domain == AF_INET6 || domain == AF_UNIX) &&
	              (kind == SOCK_STREAM || kind == SOCK_SEQPACKET) && protocol != IPPROTO_SCTP;

	if (fd >= 0 && shim_ready())
		socket_created(fd, stream ? WATCH_STREAM : WATCH_OTHER);
	return fd;
}

static int accepted(int fd)
{
	if (fd >= 0 && shim_ready()) {
		thread_asked(true);
		socket_created(fd, WATCH_SERVER);
	}
	return fd;
}

int accept(int fd, struct sockaddr *address, socklen_t *len)
{
	return accepted(real.accept(fd, address, len));
}

int accept4(int fd, struct sockaddr *address, socklen_t *len, int flags)
{
	return accepted(real.accept4(fd, address, len, flags));
}
