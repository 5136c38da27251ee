/* SPDX-License-Identifier: MIT */
/* An attempt's way through its verdict. A first try goes the same way as a retry, and pays nothing,
 * where a breaker is not closed. */
#include "pace/pace.h"

#include "config/current.h"
#include "conn/flight.h"
#include "conn/release.h"
#include "dest/answer_time.h"
#include "pace/ahead.h"
#include "pace/defer.h"
#include "pace/hold.h"
#include "pace/reconnect.h"
#include "pace/refuse.h"
#include "pace/result.h"
#include "pace/storm.h"
#include "pace/verdict.h"
#include "region/steering.h"
#include "report/record.h"
#include "report/refresh.h"
#include "report/report.h"
#include "sys/real.h"

#include <errno.h>
#include <fcntl.h>

/* Everything is decided, counted and logged, and everything goes at once. */
static bool observe(struct attempt *try, int64_t cost)
{
	enum verdict verdict = verdict_take(try, cost, try->began);

	if (verdict != REFUSED)
		return result_admitted(try, verdict, 0, try->began);
	TALLY(try, refused);
	result_keep(try, DECISION_WOULD_REFUSE, 0, try->began);
	count(&result_untold(try)->refused);
	result_throttled(try, 0, try->began);
	return true;
}

/* A first try that may replace a lost connection. False: not now. */
static bool spread(struct attempt *try)
{
	int flags;

	if (try->fd < 0 || try->is_datagram || try->is_request ||
	    try->account.policy->mode != MODE_ENFORCE)
		return true;
	flags = real.fcntl(try->fd, F_GETFL, 0);
	if (flags < 0)
		return true; /* the real call will say what is wrong */
	switch (reconnect(try, !(flags & O_NONBLOCK) && !try->no_wait, wait_bound_of(try->fd))) {
	case RECONNECT_GOES:
		return true;
	case RECONNECT_ENDED:
		try->told = result_errno(try);
		break;
	case RECONNECT_GONE:
		try->told = EBADF;
		break;
	case RECONNECT_PARKED:
		break;
	}
	flight_end_attempt(try);
	return false;
}

/* It may not go. */
static bool refuse(struct attempt *try, int64_t cost, bool blocks)
{
	int64_t now = try->began, most;

	ahead_refused(answer_time_failing(try->trial.destination), now);
	if (!blocks)
		return refuse_later(try, now);
	most = hold_most(try, storm_meets(try, now), now);
	if (most > 0) {
		switch (hold(try, cost, most, &now)) {
		case HELD_GOES:
			return true;
		case HELD_ENDED:
			return false;
		case HELD_OVER:
			break;
		}
		if (try->account.policy->mode == MODE_OBSERVE) /* since then */
			return observe(try, cost);
	}
	return result_refused_now(try, now - try->began, now);
}

/* An operator's request is taken before anything is throttled that it may set free. False: what was
 * judged is not to be judged any more. */
static bool still_judged(struct attempt *try)
{
	if (steering_waits(shim_region))
		refresh(try->began);
	return try->config == config_current() || attempt_open_account(try);
}

bool pace_slowly(struct attempt *try)
{
	const struct policy *policy;
	enum verdict verdict;
	int64_t cost;
	bool blocks;
	int flags = 0;

	if (try->fd >= 0)
		release_options_over(try->fd);
	if (try->unjudged || !still_judged(try))
		return true;
	policy = try->account.policy;
	if (!try->trial.retry && (policy->reconnect_spread > 0 || policy->start_spread > 0)) {
		if (!spread(try))
			return false;
		if (!attempt_open_account(try))
			return true; /* switched off meanwhile */
		policy = try->account.policy;
	}
	if (!try->trial.retry && policy->rate <= 0 &&
	    !breaker_not_closed(&try->account.budget->breaker, &policy->breaker))
		return true;
	cost = budget_cost(policy, (enum failure)try->trial.destination->last_failure);
	if (policy->mode == MODE_OBSERVE)
		return observe(try, cost);
	if (try->fd >= 0)
		flags = real.fcntl(try->fd, F_GETFL, 0);
	if (flags < 0)
		return true; /* the real call will say what is wrong */
	blocks = !(flags & O_NONBLOCK) && !try->no_wait;
	try->passes = !blocks && policy->nonblocking == NONBLOCKING_PASS && !try->is_datagram &&
	              !try->is_request;
	if (try->passes)
		return observe(try, cost);
	verdict = verdict_take(try, cost, try->began);
	if (verdict != REFUSED)
		return result_admitted(try, verdict, 0, try->began);
	return defer(try) || refuse(try, cost, blocks);
}
