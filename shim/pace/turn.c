/* SPDX-License-Identifier: MIT */
/* When an attempt may go: what the breaker, the budget, the server and the deadline say. */
#include "pace/turn.h"

#include "pace/park.h"
#include "track/outcome.h"
#include "track/thread.h"

bool turn_is_broken(const struct attempt *try)
{
	const struct account *account = &try->account;

	return breaker_holds(&account->budget->breaker, &account->policy->breaker);
}

int64_t turn_of_breaker(const struct attempt *try, int64_t now)
{
	return breaker_wait(&try->account.budget->breaker, &try->account.policy->breaker, now);
}

/* Breaker, then budget. What probes a half-open breaker goes whatever the tokens say: nothing else
 * would end the hold. */
enum admission turn_admit(struct attempt *try, int64_t cost, int64_t now)
{
	const struct account *account = &try->account;
	enum admission admission = ADMITTED;
	enum breaker_change change;
	enum breaker_verdict verdict =
	    breaker_ask(&account->budget->breaker, &account->policy->breaker, now, &change);

	outcome_breaker(try->trial.destination, account, try->label, change, now);
	if (verdict == BREAKER_HOLD)
		return REFUSED;
	try->permit = try->trial.probe = verdict == BREAKER_PROBE;
	if (try->trial.retry)
		admission = budget_admit(account, cost, now);
	return admission == REFUSED && try->permit ? ADMITTED_PROBE : admission;
}

/* ns for which the streak may still be held back. What an open breaker holds back without one has
 * no end that would be noticed, and does not count. */
int64_t turn_hold_left(const struct attempt *try)
{
	const struct budget *budget = try->account.budget;

	return budget->streak == 0 ? INT64_MAX
	                           : hold_left(&budget->hold, try->account.policy->deadline);
}

/* No wait lasts longer than the deadline, but for what is the least of a wait. Without a deadline
 * nobody asks. */
static int64_t longest_hold(const struct policy *policy)
{
	int64_t longest = policy->deadline > 0 ? policy->deadline : INT64_MAX;

	if (longest < PARK_LEAST)
		longest = PARK_LEAST;
	return longest < policy->backoff.min ? policy->backoff.min : longest;
}

void turn_hold(const struct attempt *try, int64_t from, int64_t to)
{
	struct budget *budget = try->account.budget;

	if (budget->streak != 0)
		hold_begin(&budget->hold, from, to, longest_hold(try->account.policy));
}

/* ns from its beginning after which a retry is to go: the backoff, then a token; but never a
 * lock-out, however long the backoff and short the bound. Before the moment that the server itself
 * asked for nothing goes. After the deadline the caller is one that cannot wait, and goes if it
 * comes when somebody may: were a delay drawn for each of its calls, the shortest of many would let
 * it go, and all who come shortly before the moment would go in it. */
int64_t turn_of_retry(const struct attempt *try, int64_t cost)
{
	const struct account *account = &try->account;
	int64_t delay = budget_delay(account, thread_random()) - (try->began - try->answered.at);
	int64_t tokens = budget_token_wait(account, cost, try->began);
	int64_t probe = budget_probe_wait(account, try->began);
	/* Name servers ask for nothing. */
	int64_t asked = try->fd < 0 ? 0 : budget_asked_wait(account, try->began, thread_random());

	/* It came back since: tokens alone decide. A refusal is paced all the same, or what others'
	 * failures left without tokens would spin until time has made some. */
	if (account->budget->streak == 0)
		return tokens < probe ? tokens : probe;
	if (turn_hold_left(try) == 0)
		return budget_due(account, cost, try->began) > 0 ? INT64_MAX : 0;
	if (delay < tokens)
		delay = tokens;
	if (delay > probe)
		delay = probe;
	return delay > asked ? delay : asked;
}
