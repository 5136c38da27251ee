/* SPDX-License-Identifier: MIT */
/*
 * TCP_USER_TIMEOUT bounds a connect to the millisecond (the kernel cuts its timers to it since
 * Linux 4.20), ends it in ETIMEDOUT as the kernel's own timeout would, and leaves the socket fit
 * to be connected again. SO_SNDTIMEO would do none of that: it ends the call and not the connect,
 * with EINPROGRESS, and after any handler the call would no longer be restarted (signal(7)).
 * Sockets of the unix family have nothing else; there the call is all there is to end.
 */
#include "conn/connect_timeout.h"

#include "budget/policy.h"
#include "conn/tcp_info.h"
#include "sys/real.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <sys/time.h>

static bool get_timeout(int fd, bool is_unix, int64_t *ms)
{
	struct timeval time = { 0 };
	int value = 0;
	socklen_t len = is_unix ? sizeof(time) : sizeof(value);
	int64_t seconds;

	if (is_unix ? real.getsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, &len) != 0
	            : real.getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, &len) != 0)
		return false;
	seconds = time.tv_sec;
	/* Rounded up: what was set is not none. */
	if (!is_unix)
		*ms = value;
	else if (seconds >= INT64_MAX / 1000)
		*ms = INT64_MAX;
	else
		*ms = seconds * 1000 + ((int64_t)time.tv_usec + 999) / 1000;
	return true;
}

static bool set_timeout(int fd, bool is_unix, int64_t ms)
{
	struct timeval time = { .tv_sec = (time_t)(ms / 1000),
		                .tv_usec = (suseconds_t)(ms % 1000 * 1000) };
	int value = (int)ms;

	return is_unix
	           ? real.setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) == 0
	           : real.setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &value, sizeof(value)) == 0;
}

bool connect_timeout_set(int fd, struct socket_entry *entry, bool is_unix, int64_t ns)
{
	const uint32_t ours = TRAIT_BOUNDED | (is_unix ? TRAIT_BOUNDED_UNIX : 0);
	int64_t ms = ns / NS_PER_MS, was;
	int saved = errno;
	bool done;

	ms = within(ms, 1, INT_MAX);
	done = get_timeout(fd, is_unix, &was) && was == 0;
	if (done) {
		/* Noted before it is done: a handler may jump away in between. */
		atomic_store(&entry->timeout_ms, 0);
		socket_mark(entry, ours);
		/* As the kernel reports it, which counts in ticks. */
		done = set_timeout(fd, is_unix, ms) && get_timeout(fd, is_unix, &was);
		if (done)
			atomic_store(&entry->timeout_ms, (uint32_t)was);
		else
			atomic_fetch_and(&entry->traits, ~ours);
	}
	errno = saved;
	return done;
}

void connect_timeout_undo(int fd, struct socket_entry *entry)
{
	const uint32_t ours = TRAIT_BOUNDED | TRAIT_BOUNDED_UNIX;
	unsigned int traits = atomic_fetch_and(&entry->traits, ~ours);
	bool is_unix = traits & TRAIT_BOUNDED_UNIX;
	int64_t ours_ms = (int64_t)atomic_load(&entry->timeout_ms), now;
	int saved = errno;

	/* 0: jumped away before it could be read back. */
	if (traits & TRAIT_BOUNDED && get_timeout(fd, is_unix, &now) &&
	    (now == ours_ms || ours_ms == 0))
		set_timeout(fd, is_unix, 0);
	errno = saved;
}

void connect_timeout_lift(int fd, struct socket_entry *entry)
{
	struct tcp_info info = { .tcpi_state = 0 };
	socklen_t len = sizeof(info);
	int saved = errno;
	/* A connect of the unix family ends with its call. */
	bool goes_on = !(atomic_load(&entry->traits) & TRAIT_BOUNDED_UNIX) &&
	               real.getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	               info.tcpi_state == TCP_SYN_SENT_;

	errno = saved;
	if (!goes_on)
		connect_timeout_undo(fd, entry);
}
