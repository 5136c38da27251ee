/* SPDX-License-Identifier: MIT */
/* Whether an attempt may go: what the breaker and the budget say. */
#include "pace/verdict.h"

#include "budget/budget_wait.h"
#include "budget/rate.h"
#include "conn/outcome.h"
#include "sys/real.h"
#include "sys/thread.h"

/* Breaker, then budget. A probe of a half-open breaker goes whatever the tokens say: nothing else
 * would close it. No retry goes before the time that the server asked for (Retry-After). At last
 * the rate, which bounds all alike. */
enum verdict verdict_take(struct attempt *try, int64_t cost, int64_t now)
{
	const struct account *account = &try->account;
	enum verdict verdict = ADMITTED;
	enum breaker_change change;
	enum breaker_verdict breaker;

	try->over_rate = false; /* it is asked anew after a hold */
	if (account->policy->leased)
		try->account.slept = slept(now);
	if (try->trial.retry &&
	    breaker_not_closed(&account->budget->breaker, &account->policy->breaker) &&
	    budget_retry_after_wait(account, now) > 0)
		return REFUSED;
	breaker = breaker_ask(&account->budget->breaker, &account->policy->breaker, now, &change);
	outcome_breaker(try->trial.destination, account, try->label, change, now);
	if (breaker == BREAKER_HOLD)
		return REFUSED;
	try->permit = try->trial.probe = breaker == BREAKER_PROBE;
	if (try->trial.retry)
		verdict =
		    try->unclear && (try->asked || budget_unclear(account, try->workload, now))
			? budget_admit_free(account, now)
			: budget_verdict(account, cost, now);
	if (try->permit)
		return verdict == REFUSED ? ADMITTED_PROBE : verdict;
	try->over_rate = verdict != REFUSED && !budget_keeps_rate(account, now);
	if (!try->over_rate)
		return verdict;
	if (try->trial.retry && verdict == ADMITTED)
		budget_refund(account, cost, budget_source(account, now));
	return REFUSED;
}
