/* SPDX-License-Identifier: MIT */
/* Whether the request of a connect that may not go is asked instead, and how often. */
#include "pace/defer.h"

#include "budget/budget_wait.h"
#include "dest/answer_time.h"
#include "dest/demand.h"
#include "dest/handed.h"
#include "dest/profile.h"
#include "sys/cell.h"
#include "sys/second_count.h"
#include "sys/thread.h"

/* Tries of one request from which on it seems to be made for ever. */
#define FEW_TRIES 3

/* Of one to which the server has said when: most programs give up before. */
#define FEW_PUT_OFF 5

/* A lost count among threads does no harm. */
static void count_deferred(struct destination *destination, int64_t now)
{
	cell64 *count = &destination->deferred_now;

	STORE(*count, second_count_add(LOAD(*count), now / NS_PER_S));
}

static int64_t deferred_in(const struct destination *destination, int64_t now)
{
	return second_count_at(LOAD(destination->deferred_now), now / NS_PER_S);
}

/* What failed was a request, which would be known again. */
static bool is_known(const struct attempt *try)
{
	return try->claimed.fingerprint != 0 || try->claimed.passed ||
	       failures_are_known(try->trial.destination);
}

/* A thread that serves several at a time, that has done something else since it failed there, that
 * is handed requests, or that was asked for something since its last connect went so. One that does
 * nothing but try again there works for nobody. */
static bool works_for_others(const struct attempt *try)
{
	const struct thread_facts *mine = thread_mine();

	return demand_serves_many() || !try->stuck || handed_is() ||
	       (demand_last_served() >= 0 && !mine->deferred);
}

/* What others have asked for may have a connection each. */
static bool is_asked(const struct attempt *try, int64_t deferred)
{
	return works_for_others(try) && deferred < demand_served(try->began);
}

/* This thread has had other work there. */
static bool is_mixed(const struct attempt *try)
{
	return profile_is_mixed(try->trial.destination, thread_id(), try->began - ALLOWANCE_WINDOW);
}

/* The program is known to try again after as many. Of a thread that serves several at a time no
 * number tells anything: each connect may be for somebody else. */
static bool is_told_by_number(const struct attempt *try)
{
	return !demand_serves_many() && try->claimed.number > 0 &&
	       profile_tries_again(try->trial.destination, try->claimed.number,
	                           try->claimed.refused);
}

static bool has_few_tries(const struct attempt *try)
{
	return demand_serves_many() || try->claimed.number <= FEW_TRIES;
}

/* The server has said when the request that failed may come again, and of others nothing. Who tries
 * that one for ever is stopped at its connects after a few. */
static bool is_of_a_server_that_says_when(const struct attempt *try)
{
	return budget_retry_after_wait(&try->account, try->began) > 0 && try->claimed.number > 0 &&
	       try->claimed.number <= FEW_PUT_OFF;
}

static bool may_be_other(const struct attempt *try)
{
	const struct destination *destination = try->trial.destination;
	const struct allowance *allowance = &try->account.budget->allowance;
	int64_t now = try->began, deferred = deferred_in(destination, now);

	/* What fails there are connects, or within TLS, where no request is seen, or comes of a
	 * peer that speaks first: what is sent then is no first request any more. */
	if (LOAD(destination->last_unmet) || profile_carries(destination) ||
	    answer_time_converses(destination) || !is_known(try))
		return false;
	if (is_of_a_server_that_says_when(try))
		return true;
	if (!allowance_is_answering_mixed(allowance, now))
		return false;
	return is_asked(try, deferred) ||
	       (is_mixed(try) && !is_told_by_number(try) &&
	        allowance_defers(allowance, has_few_tries(try), deferred, now));
}

bool defer(struct attempt *try)
{
	const struct account *account = &try->account;
	const struct budget *budget = account->budget;
	struct destination *destination = try->trial.destination;
	int64_t now = try->began;

	if (try->fd < 0 || try->is_datagram || try->is_request || try->has_data || try->lineage ||
	    try->over_rate || account->policy->http_deny == HTTP_DENY_PASS ||
	    breaker_not_closed(&budget->breaker, &account->policy->breaker) ||
	    budget_is_barred(account) || ramp_is_on(&budget->ramp, now))
		return false;
	if (!may_be_other(try))
		return false;
	count_deferred(destination, now);
	thread_mine()->deferred = true;
	try->deferred = true;
	return true;
}
