/* SPDX-License-Identifier: MIT */
/* Whether an attempt may go: what the breaker and the budget say. */
#include "pace/turn.h"

#include "conn/outcome.h"
#include "sys/thread.h"

bool turn_is_broken(const struct attempt *try)
{
	const struct account *account = &try->account;

	return breaker_holds(&account->budget->breaker, &account->policy->breaker);
}

/* Breaker, then budget. What probes a half-open breaker goes whatever the tokens say: nothing else
 * would end the hold. But not before the moment that the server itself asked for. */
enum admission turn_admit(struct attempt *try, int64_t cost, int64_t now)
{
	const struct account *account = &try->account;
	enum admission admission = ADMITTED;
	enum breaker_change change;
	enum breaker_verdict verdict;

	if (try->trial.retry && turn_is_broken(try) && budget_asked_wait(account, now) > 0)
		return REFUSED;
	verdict = breaker_ask(&account->budget->breaker, &account->policy->breaker, now, &change);
	outcome_breaker(try->trial.destination, account, try->label, change, now);
	if (verdict == BREAKER_HOLD)
		return REFUSED;
	try->permit = try->trial.probe = verdict == BREAKER_PROBE;
	if (try->trial.retry)
		admission = try->unclear && budget_unclear(account, now)
		                ? budget_let(account, now)
		                : budget_verdict(account, cost, now);
	return admission == REFUSED && try->permit ? ADMITTED_PROBE : admission;
}
