/* SPDX-License-Identifier: MIT */
/* Spreading connects that replace lost connections, and the first ones of processes. */
#include "pace/reconnect.h"

#include "conn/park_options.h"
#include "dest/destinations.h"
#include "dest/firsts.h"
#include "pace/idle.h"
#include "pace/park.h"
#include "pace/result.h"
#include "pace/wait.h"
#include "region/state.h"
#include "report/record.h"
#include "report/refresh.h"
#include "report/report.h"
#include "sys/real.h"
#include "sys/thread.h"

#include <errno.h>

/* No call is held longer, whatever the spread. */
#define LONGEST (10 * NS_PER_S)

/* Where this process has made its first try, as far as starts are spread. */
static struct firsts started;

static void count_spread(const struct attempt *try)
{
	count(&try->trial.destination->tally.held);
	count(&shim_tally->held);
}

static enum reconnect wait_for(struct attempt *try, int64_t delay, bool blocks, int64_t bound)
{
	enum wait_end end;

	if (bound > LONGEST)
		bound = LONGEST;
	try->cookie = socket_cookie(try->fd);
	/* All those that it ends sooner would else go in the one moment. */
	if (delay > bound)
		delay = random_upto(thread_random(), bound);
	count_spread(try);
	end = wait_until(try->began + delay, NULL);
	if (end == WAIT_STEERED)
		refresh(monotonic());
	if (!attempt_is_there(try))
		return RECONNECT_GONE;
	/* To connect after a handler that wants calls ended would lose the alarm() that was to end
	 * this one. One that does not block is over in a moment. */
	return end == WAIT_INTERRUPTED && blocks && !wait_restarts() ? RECONNECT_ENDED
	                                                             : RECONNECT_GOES;
}

/* Nothing is noted as failed: the connect that the program makes next is a first try again. */
static enum reconnect park_for(struct attempt *try, int64_t delay)
{
	struct socket_entry entry = { .state = SOCKET_THROTTLED };

	/* Less than the kernel can park for is as good as now, and a refusal would be worse. */
	if (delay < PARK_LEAST || try->is_unix ||
	    try->account.policy->nonblocking != NONBLOCKING_PARK || !park_options_can(try->fd) ||
	    park(try->fd, try->address, try->len, delay, &entry) == 0)
		return RECONNECT_GOES;
	count_spread(try);
	park_enter(try, &entry);
	return RECONNECT_PARKED;
}

/* The first connect of this process there. A parked one would fail, and the program may have no
 * other: so one that does not block waits as one that does, where that keeps nobody waiting, or
 * goes. */
static enum reconnect start(struct attempt *try, bool blocks, int64_t bound)
{
	const struct policy *policy = try->account.policy;
	bool first_of_many;
	int64_t delay =
	    spread_start(&try->trial.destination->starts, policy->start_burst, policy->start_spread,
	                 try->began, thread_random(), &first_of_many);

	if (first_of_many) {
		announce(try->began);
		result_say(try, EVENT_SPREAD, 0, policy->start_spread, try->began);
	}
	if (delay <= 0 || !(blocks || idle_but_for(try->fd)))
		return RECONNECT_GOES;
	return wait_for(try, delay, blocks, bound);
}

enum reconnect reconnect(struct attempt *try, bool blocks, int64_t bound)
{
	const struct policy *policy = try->account.policy;
	struct destination *destination = try->trial.destination;
	bool starts =
	    policy->start_spread > 0 && firsts_note(&started, destination_slot(destination));
	int64_t delay = spread_delay(&destination->spread, policy->reconnect_spread, try->began,
	                             thread_random());

	if (delay > 0)
		return blocks ? wait_for(try, delay, blocks, bound) : park_for(try, delay);
	return starts ? start(try, blocks, bound) : RECONNECT_GOES;
}
