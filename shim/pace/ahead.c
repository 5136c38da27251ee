/* SPDX-License-Identifier: MIT */
/* How far a thread is ahead of the time at which real failures would have let it come back. */
#include "pace/ahead.h"

#include "conn/sockets.h"
#include "dest/answer_time.h"
#include "sys/arithmetic.h"
#include "sys/thread.h"

#define SOON    (50 * NS_PER_MS)
#define SERVING (10 * NS_PER_S) /* how long a thread that was asked counts as one */

int64_t ahead_at(int64_t now)
{
	uint32_t present = (uint32_t)(now / NS_PER_MS);
	int64_t ahead = (int32_t)(thread_mine()->back_at - present) * NS_PER_MS;

	return ahead > 0 && ahead <= AHEAD_MOST ? ahead
	                                        : 0; /* it may have been at rest for weeks */
}

void ahead_refused(int64_t failing, int64_t now)
{
	struct thread_facts *mine = thread_mine();
	int64_t ahead = ahead_at(now);

	/* Back before anybody could have been told that a connect is over. */
	if (mine->refused < 0 && ahead > AHEAD_AT_PARK - SOON)
		mine->never_waits = true;
	mine->back_at = (uint32_t)((now + ahead_after(ahead, failing)) / NS_PER_MS);
}

int64_t ahead_hold(const struct attempt *try, int64_t now)
{
	return ahead_at(now) > AHEAD_LEEWAY ? answer_time_failing(try->trial.destination) : 0;
}

/* The connect that was refused last: the program has not learned it, and goes on with another. */
static bool is_under_way(const struct thread_facts *mine)
{
	int32_t refused = mine->refused < 0 ? -mine->refused : mine->refused;
	const struct socket_entry *entry = refused > 0 ? socket_find(refused - 1) : NULL;

	return entry && LOAD(entry->state) == SOCKET_THROTTLED;
}

bool ahead_parks(const struct attempt *try, int64_t now)
{
	struct thread_facts *mine = thread_mine();

	if (is_under_way(mine))
		mine->never_waits = true;
	mine->refused = try->fd + 1;
	return ahead_at(now) >= AHEAD_AT_PARK && !mine->never_waits &&
	       now - mine->asked_at > SERVING;
}

void ahead_parked(const struct attempt *try, int64_t now)
{
	struct thread_facts *mine = thread_mine();

	mine->refused = -(try->fd + 1);
	mine->back_at = (uint32_t)((now + AHEAD_AT_PARK) / NS_PER_MS);
}
