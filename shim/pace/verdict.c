/* SPDX-License-Identifier: MIT */
/* Whether an attempt may go: what the breaker and the budget say. */
#include "pace/verdict.h"

#include "conn/outcome.h"
#include "sys/thread.h"

bool verdict_is_breakers(const struct attempt *try)
{
	const struct account *account = &try->account;

	return breaker_holds(&account->budget->breaker, &account->policy->breaker);
}

/* Breaker, then budget. What probes a half-open breaker goes whatever the tokens say: nothing else
 * would end the hold. But not before the moment that the server itself asked for. */
enum verdict verdict_of(struct attempt *try, int64_t cost, int64_t now)
{
	const struct account *account = &try->account;
	enum verdict verdict = ADMITTED;
	enum breaker_change change;
	enum breaker_verdict breaker;

	if (try->trial.retry && verdict_is_breakers(try) && budget_asked_wait(account, now) > 0)
		return REFUSED;
	breaker = breaker_ask(&account->budget->breaker, &account->policy->breaker, now, &change);
	outcome_breaker(try->trial.destination, account, try->label, change, now);
	if (breaker == BREAKER_HOLD)
		return REFUSED;
	try->permit = try->trial.probe = breaker == BREAKER_PROBE;
	if (try->trial.retry)
		verdict = try->unclear && budget_unclear(account, now)
		              ? budget_let(account, now)
		              : budget_verdict(account, cost, now);
	return verdict == REFUSED && try->permit ? ADMITTED_PROBE : verdict;
}
