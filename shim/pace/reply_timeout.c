/* SPDX-License-Identifier: MIT */
/* Waiting for a reply, but not for ever. */
#include "pace/reply_timeout.h"

#include "config/current.h"
#include "conn/flight.h"
#include "pace/wait.h"
#include "region/state.h"
#include "region/steering.h"
#include "report/refresh.h"
#include "sys/cell.h"
#include "sys/memory.h"
#include "sys/real.h"
#include "sys/socket_timeout.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

static bool is_awaited(const struct socket_entry *entry)
{
	enum socket_state state = LOAD(entry->state);

	return state == SOCKET_CONNECTING || state == SOCKET_OPEN || state == SOCKET_ASKED;
}

/* What the policy says now: the file may have changed since the program connected. 0: nothing. */
static int64_t time_of(const struct socket_entry *entry, int32_t *err)
{
	struct account account;
	struct trial trial;

	if (!trial_of(entry, &trial))
		return 0;
	destination_account(trial.destination, config_current(), &account);
	*err = account.policy->reply_errno;
	return account.policy->mode == MODE_ENFORCE ? account.policy->reply_timeout : 0;
}

/* True if a read would wait longer than time: the socket blocks, and has no shorter SO_RCVTIMEO. */
static bool waits_longer(int fd, int64_t time)
{
	return socket_waits(fd) && socket_timeout(fd, SO_RCVTIMEO) > time;
}

/* 0: there is something to read. ETIMEDOUT: the time is over. EINTR: a handler ended it, and did
 * not ask for the call to be restarted; poll() itself always ends (signal(7)). */
static int await(int fd, int64_t time)
{
	int64_t until = monotonic() + time;
	struct pollfd at = { .fd = fd, .events = POLLIN };

	for (;;) {
		int64_t left = until - monotonic(), ms = (left + NS_PER_MS - 1) / NS_PER_MS;
		int result = poll(&at, 1, ms < 0 ? 0 : ms > INT_MAX ? INT_MAX : (int)ms);

		if (result == 0)
			return ETIMEDOUT;
		if (result > 0 || errno != EINTR) /* the real call will say what is wrong */
			return 0;
		if (!wait_restarts())
			return EINTR;
	}
}

/* The connection has to be dead for the program if it is told that it is. */
static void hang_up(int fd, struct socket_entry *entry)
{
	enum socket_state state = LOAD(entry->state);

	socket_move(fd, entry, state, ON_HUNG_UP);
	real.shutdown(fd, SHUT_RDWR);
}

static void time_is_over(int fd, struct socket_entry *entry, int32_t err)
{
	struct trial trial;

	/* Somebody else may have read the answer, or put another socket here, meanwhile. */
	if (!is_awaited(entry) || !socket_believe(fd, entry))
		return;
	if (trial_of(entry, &trial) && !(socket_mark(entry, TRAIT_TIMED_OUT) & TRAIT_TIMED_OUT))
		flight_timed_out(entry, &trial);
	if (err == ECONNRESET)
		hang_up(fd, entry);
}

/* Switched off while we waited: from here on it waits as the program would have. */
static bool is_over(const struct socket_entry *entry)
{
	int32_t unused;

	if (steering_waits(shim_region))
		refresh(monotonic());
	return time_of(entry, &unused) <= 0;
}

bool reply_comes(int fd, size_t wanted, int flags)
{
	struct socket_entry *entry = socket_find(fd);
	int saved = errno, err;
	int32_t told = EAGAIN;
	uint64_t cookie;
	int64_t time;

	if (!entry || wanted == 0 || flags & (MSG_DONTWAIT | MSG_ERRQUEUE | MSG_OOB) ||
	    !is_awaited(entry))
		return true;
	time = time_of(entry, &told);
	if (time <= 0 || !waits_longer(fd, time) || !socket_believe(fd, entry)) {
		errno = saved;
		return true;
	}
	cookie = LOAD(entry->cookie);
	err = await(fd, time);
	if (err == ETIMEDOUT && is_over(entry))
		err = 0;
	/* A read that the kernel blocks holds its socket: what came must not be taken from another
	 * that has the number now. */
	if (err == 0 && (!(entry = socket_find(fd)) || LOAD(entry->cookie) != cookie ||
	                 !socket_believe(fd, entry)))
		err = EBADF;
	if (err == ETIMEDOUT) {
		time_is_over(fd, entry, told);
		err = told == ECONNRESET ? ECONNRESET : EAGAIN;
	}
	errno = err ? err : saved;
	return err == 0;
}

bool reply_comes_in_parts(int fd, const struct iovec *parts, int n)
{
	size_t wanted = 0;

	if (n < 1 || n > IOV_MAX || !memory_is_there(parts, sizeof(*parts)) ||
	    !memory_is_there(parts + n - 1, sizeof(*parts)))
		return true;
	for (int i = 0; i < n; i++)
		wanted |= parts[i].iov_len;
	return reply_comes(fd, wanted, 0);
}
