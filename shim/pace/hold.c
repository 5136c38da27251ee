/* SPDX-License-Identifier: MIT */
/* Holding what spins: the only wait for a budget, and short. A wait costs the program whatever that
 * thread would have done otherwise, so only a thread that did nothing else gets one. */
#include "pace/hold.h"

#include "dest/tries.h"
#include "pace/answer.h"
#include "pace/verdict.h"
#include "pace/wait.h"
#include "sys/socket_timeout.h"
#include "sys/fault.h"
#include "sys/real.h"
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

enum held hold(struct attempt *try, int64_t cost, int64_t *now)
{
	int64_t own_bound = wait_bound_of(try->fd), began = *now;
	int64_t length = length_of(try, own_bound);
	enum verdict verdict;
	enum wait_end end;

	if (length <= 0)
		return HELD_OVER;
	if (try->fd >= 0 && try->cookie == 0)
		try->cookie = socket_cookie(try->fd);
	/* A handler may jump out: then this was one more try that failed. */
	tries_failed(destination_slot(try->trial.destination), began);
	end = wait_until(began + length, try->account.budget);
	*now = monotonic();
	/* The destination is back. All whom it lets go would else go in the one moment. */
	if (end == WAIT_RELEASED && *now < began + length) {
		if (wait_until(*now + random_upto(thread_random(), began + length - *now), NULL) ==
		    WAIT_INTERRUPTED)
			end = WAIT_INTERRUPTED;
		*now = monotonic();
	}
	tries_held(*now);
	if (end == WAIT_IMPOSSIBLE) {
		fault_count();
		return HELD_OVER;
	}
	TALLY(try, waited);
	/* A call that the kernel blocks holds its socket, and our wait does not: nothing must go to
	 * whatever has the number now. */
	if (!attempt_is_there(try)) {
		answer_unsent(try, EBADF);
		return HELD_ENDED;
	}
	if (!attempt_open_account(try))
		return HELD_GOES; /* switched off meanwhile */
	if (end == WAIT_INTERRUPTED)
		return HELD_OVER;
	verdict = verdict_take(try, cost, *now);
	if (verdict == REFUSED)
		return HELD_OVER;
	tries_note(destination_slot(try->trial.destination), *now);
	answer_admitted(try, verdict, *now - began, *now);
	return HELD_GOES;
}
