/* SPDX-License-Identifier: MIT */
/* Refusing a connect that must not wait. No kernel ever refuses one of TCP at once, and programs
 * break on it (haproxy spins, aria2 gives up): it is begun towards a sinkhole, and fails later. */
#include "pace/refuse.h"

#include "conn/park_options.h"
#include "dest/demand.h"
#include "dest/lineage.h"
#include "dest/tries.h"
#include "pace/ahead.h"
#include "pace/hold.h"
#include "pace/park.h"
#include "pace/result.h"
#include "pace/storm.h"
#include "pace/wait.h"
#include "sys/fault.h"
#include "sys/real.h"

#include <errno.h>

/* A unix socket's refusal is synchronous by nature. A thread that does nothing but try again is
 * slowed down, by less than any event loop would notice. */
#define UNIX_PAUSE (20 * NS_PER_MS)

/* True for what a connect says of an earlier one on the same socket, or of a shutdown. */
static bool is_status(int err)
{
	return err == EALREADY || err == EISCONN || err == ECONNABORTED || err == ECONNREFUSED ||
	       err == ETIMEDOUT || err == EINVAL;
}

static bool refuse_at_once(struct attempt *try, int64_t most, int64_t now)
{
	if (try->is_unix && !try->is_request && most >= UNIX_PAUSE &&
	    try->account.policy->hold > 0 && demand_served(now) == 0) {
		wait_until(now + UNIX_PAUSE, try->account.budget);
		result_held(try, monotonic() - now);
		now = monotonic();
		tries_held(now);
	}
	return result_refused_now(try, 0, now);
}

bool refuse_later(struct attempt *try, int64_t now)
{
	const struct account *account = &try->account;
	struct socket_entry entry = { .state = SOCKET_THROTTLED };
	bool rages = storm_meets(try, now), ahead = ahead_parks(try, now);
	int64_t most = 0, delay = 0;
	int err;

	if (rages || try->is_unix)
		most = hold_most(try, rages, now);
	else
		tries_refused(now); /* what it did meanwhile would change nothing */

	if (try->is_unix || try->is_datagram || try->is_request || try->fd < 0)
		return refuse_at_once(try, most, now);
	if (((rages && most >= PARK_LEAST) || ahead) && !try->over_rate &&
	    account->policy->nonblocking == NONBLOCKING_PARK &&
	    storm_parks(try->trial.destination, now))
		delay = PARK_LEAST;
	if (delay > 0 && try->lineage)
		lineage_held(try->trial.destination, now + delay);
	err = park(try->fd, try->address, try->len, delay, &entry);
	if (err == 0 && is_status(errno)) /* begun where we did not see it */
		return result_unsent(try, errno);
	if (err == 0) {
		if (errno != 0) /* else loopback is not to be had, which nobody kept from us */
			fault_count();
		return refuse_at_once(try, most, now);
	}
	try->parked = delay > 0;
	if (try->parked && ahead)
		ahead_parked(try, now);
	park_enter(try, &entry);
	return result_refused(try, err, 0, now);
}
