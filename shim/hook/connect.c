/* SPDX-License-Identifier: MIT */
/* The beginning of a connection, and the two ways a program asks how it went. */
#include "conn/release.h"
#include "conn/attempt_end.h"
#include "conn/settle.h"
#include "hook/hook.h"
#include "hook/opening.h"
#include "sys/lookup_mark.h"

#include <errno.h>
#include <string.h>

static inline int connect_by(int (*next)(int, const struct sockaddr *, socklen_t), int fd,
                             const struct sockaddr *address, socklen_t len)
{
	struct attempt try;
	int result;

	thread_drop_stale_lookup();
	if (!attempt_begin_connect(&try, fd, address, len)) {
		release_options(fd); /* throttled before, perhaps: another address, or none */
		return next(fd, address, len); /* not ours to judge */
	}
	if (!opening_goes(&try))
		return attempt_refused(&try);
	do
		result = next(fd, address, len);
	while (timeouts_again(&try, result));
	return attempt_settle(&try, result);
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

/* Only observed, and only after the real call: asking SO_ERROR clears it (HAZARDS 37). */
static inline int getsockopt_by(int (*next)(int, int, int, void *, socklen_t *), int fd, int level,
                                int name, void *value, socklen_t *len)
{
	int result = next(fd, level, name, value, len), err;

	if (likely(level != SOL_SOCKET || name != SO_ERROR) || result != 0 ||
	    !(socket_watched(fd) & WATCH_END) || *len < sizeof(err))
		return result;
	memcpy(&err, value, sizeof(err));
	attempt_observed(fd, err);
	release_options_over(fd); /* whoever was told: a read may have got the error before */
	return result;
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
	return getsockopt_by(real.getsockopt, fd, level, name, value, len);
}

#if TIME64_NAMES
int __getsockopt64(int fd, int level, int name, void *value, socklen_t *len)
{
	return getsockopt_by(real.__getsockopt64, fd, level, name, value, len);
}
#endif
