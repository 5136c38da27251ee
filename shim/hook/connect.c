/* SPDX-License-Identifier: MIT */
/* The beginning of a connection, and the two ways a host asks how it went. */
#include "hook/hook.h"
#include "pace/pace.h"
#include "track/thread.h"

#include <errno.h>
#include <string.h>

static inline int connect_by(int (*next)(int, const struct sockaddr *, socklen_t), int fd,
                             const struct sockaddr *address, socklen_t len)
{
	struct attempt try;

	thread_drop_stale_lookup();
	if (!attempt_begin_connect(&try, fd, address, len)) {
		pace_release(fd); /* held back before, perhaps: another address, or none */
		return next(fd, address, len); /* not ours to judge */
	}
	if (!pace(&try))
		return attempt_refused(&try);
	attempt_start(&try);
	return attempt_settle(&try, next(fd, address, len));
}

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
	return connect_by(real.connect, fd, address, len);
}

#ifdef __GLIBC__
int __connect(int fd, const struct sockaddr *address, socklen_t len)
{
	return connect_by(real.__connect, fd, address, len);
}
#endif

/* Only observed, and only after the real call: asking SO_ERROR clears it (TRAPS A6.1). */
int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	int result = real.getsockopt(fd, level, name, value, len), err;

	if (likely(level != SOL_SOCKET || name != SO_ERROR) || result != 0 ||
	    !(socket_watched(fd) & WATCH_END) || *len < sizeof(err))
		return result;
	memcpy(&err, value, sizeof(err));
	attempt_observed(fd, err);
	pace_release_over(fd); /* whoever was told: a read may have got the error before */
	return result;
}
