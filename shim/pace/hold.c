/* SPDX-License-Identifier: MIT */
/* Holding what spins: the one wait that asks the budget again, and short. A wait costs the program
 * whatever that thread would have done otherwise, so only a thread that did nothing else gets one.
 */
#include "pace/hold.h"

#include "budget/rate.h"
#include "conn/sockets.h"
#include "dest/answer_time.h"
#include "dest/demand.h"
#include "dest/lineage.h"
#include "dest/tries.h"
#include "pace/ahead.h"
#include "pace/result.h"
#include "pace/verdict.h"
#include "pace/wait.h"
#include "report/refresh.h"
#include "sys/arithmetic.h"
#include "sys/fault.h"
#include "sys/real.h"
#include "sys/socket_timeout.h"
#include "sys/thread.h"

#include <errno.h>
#include <sys/socket.h>

int64_t wait_bound_of(int fd)
{
	return fd < 0 ? INT64_MAX : socket_timeout(fd, SO_SNDTIMEO);
}

static int64_t length_of(const struct attempt *try, int64_t own_bound)
{
	int64_t length = try->account.policy->hold;

	if (try->bound > 0 && try->bound < length)
		length = try->bound;
	return own_bound < length ? own_bound : length;
}

/* Somebody waits for this thread: it has read his request, and written nothing to him since. */
static bool is_waited_for(int64_t now)
{
	int fd = demand_last_served();
	unsigned int watched = fd < 0 ? 0 : socket_watched(fd);
	const struct thread_facts *mine = thread_mine();

	/* A socket of datagrams others may answer on as well. */
	return watched & WATCH_SERVER &&
	       (watched & WATCH_OTHER ? mine->owes : watched & WATCH_WRITE) &&
	       now - mine->asked_at < HOLD_WAITS_FOR;
}

int64_t hold_most(const struct attempt *try, bool rages, int64_t now)
{
	int64_t own = tries_refused(now);

	if (try->over_rate) /* whose turn comes in a moment waits for it */
		return budget_rate_wait(&try->account, now) < try->account.policy->hold ? INT64_MAX
		                                                                        : 0;
	if (rages && (try->lineage || tries_is_first(try->fd < 0)))
		return INT64_MAX;
	if (own < 0)
		return ahead_hold(try, now);
	return is_waited_for(now) || tries_may_be_work(own)
	           ? answer_time_failing(try->trial.destination)
	           : INT64_MAX;
}

/* For many the next place is free at the same moment: each comes at one of its own, after it. */
static enum wait_end wait_for_rate(const struct attempt *try, int64_t length, int64_t now)
{
	int64_t wait = budget_rate_wait(&try->account, now);

	return wait < length
	           ? wait_until(now + wait + random_upto(thread_random(), length - wait), NULL)
	           : WAIT_OVER;
}

enum held hold(struct attempt *try, int64_t cost, int64_t most, int64_t *now)
{
	int64_t own_bound = wait_bound_of(try->fd), began = *now;
	int64_t length = lesser(length_of(try, own_bound), most);
	enum verdict verdict;
	enum wait_end end;

	if (length < HOLD_LEAST)
		return HELD_OVER;
	if (try->fd >= 0 && try->cookie == 0)
		try->cookie = socket_cookie(try->fd);
	/* A handler may jump out: then this was one more try that failed. */
	tries_failed(destination_slot(try->trial.destination), began);
	end = try->over_rate ? wait_for_rate(try, length, began)
	                     : wait_until(began + length, try->account.budget);
	*now = monotonic();
	/* The destination is back, and ends the holds of all at once: each waits for a moment of
	 * its own, or they would go together. */
	if (end == WAIT_RELEASED && *now < began + length) {
		enum wait_end rest =
		    wait_until(*now + random_upto(thread_random(), began + length - *now), NULL);

		if (rest == WAIT_INTERRUPTED || rest == WAIT_STEERED)
			end = rest;
		*now = monotonic();
	}
	tries_held(*now);
	if (try->lineage)
		lineage_held(try->trial.destination, *now);
	if (end == WAIT_IMPOSSIBLE) {
		fault_count();
		return HELD_OVER;
	}
	result_held(try, *now - began);
	/* A call that the kernel blocks holds its socket, and our wait does not: nothing must go to
	 * whatever has the number now. */
	if (!attempt_is_there(try)) {
		result_unsent(try, EBADF);
		return HELD_ENDED;
	}
	if (end == WAIT_STEERED)
		refresh(*now);
	if (!attempt_open_account(try)) { /* switched off meanwhile, or evicted */
		if (trial_stands(&try->trial))
			TALLY(try, held);
		return HELD_GOES;
	}
	if (end == WAIT_INTERRUPTED)
		return HELD_OVER;
	verdict = verdict_take(try, cost, *now);
	if (verdict == REFUSED)
		return HELD_OVER;
	tries_note(destination_slot(try->trial.destination), *now);
	result_admitted(try, verdict, *now - began, *now);
	return HELD_GOES;
}
