/* SPDX-License-Identifier: MIT */
/* Spreading connects that replace lost connections, and the first ones of processes. */
#include "pace/reconnect.h"

#include "conn/park_options.h"
#include "dest/destinations.h"
#include "dest/firsts.h"
#include "pace/park.h"
#include "pace/wait.h"
#include "region/state.h"
#include "report/refresh.h"
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
	count(&shim_region->tally.held);
}

static enum reconnect wait_for(struct attempt *try, int64_t delay, int64_t bound)
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
	 * this one. */
	return end == WAIT_INTERRUPTED && !wait_restarts() ? RECONNECT_ENDED : RECONNECT_GOES;
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

enum reconnect reconnect(struct attempt *try, bool blocks, int64_t bound)
{
	const struct policy *policy = try->account.policy;
	struct destination *destination = try->trial.destination;
	int64_t delay = spread_delay(&destination->spread, policy->reconnect_spread, try->began,
	                             thread_random());

	if (policy->start_spread > 0 && firsts_note(&started, destination_slot(destination)) &&
	    delay <= 0)
		delay = spread_start(&destination->starts, policy->start_burst,
		                     policy->start_spread, try->began, thread_random());
	if (delay <= 0)
		return RECONNECT_GOES;
	return blocks ? wait_for(try, delay, bound) : park_for(try, delay);
}
