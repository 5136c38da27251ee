/* SPDX-License-Identifier: MIT */
/* Timeouts: where the policy's times are put on a call, and taken off again. */
#include "pace/timeouts.h"

#include "conn/connect_timeout.h"
#include "pace/wait.h"
#include "sys/real.h"
#include "sys/socket_timeout.h"

#include <errno.h>

void timeouts_set(struct attempt *try)
{
	const struct policy *policy = try->account.policy;
	struct socket_entry *entry = socket_find(try->fd);
	int saved = errno;

	try->timed = entry && policy->mode == MODE_ENFORCE && !try->no_wait &&
	             socket_waits(try->fd) &&
	             connect_timeout_set(try->fd, entry, try->is_unix, policy->connect_timeout);
	errno = saved;
}

/* A connect of the unix family waits for room in the backlog, and nothing has begun when it ends:
 * made again it waits for the rest of the time. */
static bool wait_on(const struct attempt *try, struct socket_entry *entry)
{
	int64_t left =
	    atomic_load(&entry->since) + try->account.policy->connect_timeout - monotonic();

	if (left < NS_PER_MS || !wait_restarts())
		return false;
	connect_timeout_undo(try->fd, entry);
	return connect_timeout_set(try->fd, entry, true, left);
}

bool timeouts_go_on(const struct attempt *try, ssize_t result)
{
	struct socket_entry *entry = socket_find(try->fd);
	int err = errno;

	if (!entry) /* closed meanwhile */
		return false;
	if (result < 0 && try->is_unix && err == EINTR && wait_on(try, entry))
		return true;
	if (result < 0 && try->is_unix && err == EAGAIN)
		err = ETIMEDOUT;
	/* A handler ends the call and not the connect, and most hosts make the call again. Of one
	 * that TCP_FASTOPEN_CONNECT puts off nothing has begun. */
	if (result == 0 || err == EINTR)
		connect_timeout_lift(try->fd, entry);
	else
		connect_timeout_undo(try->fd, entry);
	errno = err;
	return false;
}
