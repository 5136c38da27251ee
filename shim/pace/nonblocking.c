/* SPDX-License-Identifier: MIT */
/* On a call that must not wait: go, or be held back as a kernel would. */
#include "pace/answer.h"
#include "pace/park.h"
#include "pace/turn.h"
#include "pace/verdict.h"
#include "track/thread.h"

#include <errno.h>

/* True for what a connect says of an earlier one on the same socket, or of a shutdown. */
static bool is_status(int err)
{
	return err == EALREADY || err == EISCONN || err == ECONNABORTED || err == ECONNREFUSED ||
	       err == ETIMEDOUT || err == EINVAL;
}

/* On a call that must not wait: go if due and paid for, else be held back as a kernel would. */
bool pace_nonblocking(struct attempt *try, int64_t cost)
{
	const struct account *account = &try->account;
	struct socket_entry entry = { .phase = PHASE_HELD_BACK };
	/* The first of a streak would wait for a moment, and to be held back is to fail: it goes if
	 * it can pay. */
	int64_t due = turn_is_broken(try)           ? turn_of_breaker(try, try->began)
	              : !try->trial.retry           ? 0
	              : account->budget->streak > 1 ? budget_due(account, cost, try->began)
	                                            : budget_token_wait(account, cost, try->began);
	int64_t floor = try->trial.retry ? budget_asked_wait(account, try->began, NULL) : 0;
	enum admission admission = REFUSED;
	bool exhausted = due <= 0 && floor <= 0 && !turn_is_broken(try);
	int64_t delay = 0, left = turn_hold_left(try);
	int err;

	if (due < floor)
		due = floor;
	if (due <= 0)
		admission = turn_admit(try, cost, try->began);
	if (admission != REFUSED)
		return answer_admitted(try, admission, 0, try->began);
	if (try->is_unix || try->is_datagram || try->is_request || try->fd < 0)
		return answer_refused_now(try, exhausted, 0,
		                          try->began); /* synchronous by nature */
	if (account->policy->nonblocking == NONBLOCKING_PARK && left > 0) {
		delay = due > 0 ? due : 1;
		floor = budget_asked_wait(account, try->began, thread_random());
		if (delay < floor)
			delay = floor;
		if (delay > left)
			delay = left;
	}
	err = park(try->fd, try->address, try->len, delay, &entry);
	if (err == 0 && is_status(errno)) { /* begun where we did not see it */
		return answer_unsent(try, errno);
	}
	if (err == 0) {
		if (errno != 0) /* else loopback is not to be had, which nobody kept from us */
			report_fault();
		return answer_refused_now(try, exhausted, 0, try->began);
	}
	if (err == ETIMEDOUT)
		turn_hold(try, try->began, try->began + (delay < PARK_LEAST ? PARK_LEAST : delay));
	try->told = EINPROGRESS;
	atomic_store(&entry.since, try->began);
	atomic_store(&entry.slot, destination_slot(try->trial.destination));
	atomic_store(&entry.generation, try->trial.generation);
	socket_enter(try->fd, &entry);
	return answer_refused(try, err, exhausted, 0, try->began);
}
