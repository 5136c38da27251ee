/* SPDX-License-Identifier: MIT */
/* The order of the questions is that of conn/judging.c, pace/verdict.c and conn/outcome.c. */
#include "tool/sim_library.h"

#include "budget/concurrency.h"
#include "budget/streak.h"
#include "dest/rules.h"

/* Repeats after which a program is known to try again (dest/profile.c). */
#define KNOWN 2

static struct account account_of(struct sim_unit *unit, const struct sim_policy *policy)
{
	return (struct account) {
		.budget = &unit->budget,
		.policy = &policy->policy,
		.process = &unit->process,
		.process_rule = &policy->process_rule,
	};
}

static bool may_be_next(const struct account *account, int64_t now)
{
	const struct allowance *allowance = &account->budget->allowance;

	return LOAD(allowance->failed) <= 1 && allowance_is_answering(allowance, now) &&
	       budget_asked_wait(account, now) <= 0;
}

static void judge(struct sim_unit *unit, const struct account *account, struct sim_try *try,
                  int64_t now)
{
	bool returns = ramp_is_on(&unit->budget.ramp, now);
	struct evidence evidence = {
		.quiet = budget_is_quiet(account, now),
		.demand = try->asked,
		.again = try->follows && unit->tried_again >= KNOWN,
		.loop = try->follows &&
		        (returns || (LOAD(unit->budget.streak) > 0 && !may_be_next(account, now))),
	};
	const struct rule *rule = rule_for(&evidence);

	try->unclear = rule->says == KIND_UNCLEAR && try->follows;
	try->retry = try->unclear || rule->says == KIND_REPEAT ||
	             (rule->says == KIND_UNCLEAR && !budget_unclear(account, false, now));
}

static bool ask(struct sim_unit *unit, const struct account *account,
                const struct sim_policy *policy, struct sim_try *try, int64_t now)
{
	int64_t cost = budget_cost(account->policy, unit->last_failure);
	const struct breaker_rule *rule = &account->policy->breaker;
	enum verdict verdict = ADMITTED;
	enum breaker_change change;
	enum breaker_verdict breaker;

	if (try->retry && breaker_not_closed(&unit->budget.breaker, rule) &&
	    budget_asked_wait(account, now) > 0)
		return false;
	breaker = breaker_ask(&unit->budget.breaker, rule, now, &change);
	if (breaker == BREAKER_HOLD)
		return false;
	try->permit = breaker == BREAKER_PROBE;
	if (try->retry)
		verdict = try->unclear && budget_unclear(account, false, now)
		              ? budget_let(account, now)
		              : budget_verdict(account, cost, now);
	if (try->permit)
		return true;
	if (verdict == REFUSED && policy->scope != SCOPE_PROCESS)
		crowd_refused(&unit->budget.crowd, now);
	if (verdict == REFUSED)
		return false;
	if (budget_keeps_rate(account, now))
		return true;
	if (try->retry && verdict == ADMITTED)
		budget_refund(account, cost);
	return false;
}

bool sim_library_begin(struct sim_unit *unit, const struct sim_policy *policy, struct sim_try *try,
                       int64_t now)
{
	struct account account = account_of(unit, policy);
	bool goes;

	try->began = now;
	try->retry = try->unclear = try->permit = false;
	if (policy->policy.mode == MODE_OFF)
		return true;
	judge(unit, &account, try, now);
	unit->retries += try->retry;
	unit->used_at = now;
	if (try->number > 1)
		unit->tried_again++;
	if (!try->retry) {
		budget_first_try(&account, now);
		if (policy->policy.rate <= 0 &&
		    !breaker_not_closed(&unit->budget.breaker, &policy->policy.breaker))
			return true;
	}
	goes = ask(unit, &account, policy, try, now);
	return goes || policy->policy.mode == MODE_OBSERVE;
}

bool sim_library_again(struct sim_unit *unit, const struct sim_policy *policy, struct sim_try *try,
                       int64_t now)
{
	struct account account = account_of(unit, policy);
	bool goes = ask(unit, &account, policy, try, now);

	if (goes)
		try->began = now;
	return goes;
}

void sim_library_end(struct sim_unit *unit, const struct sim_policy *policy,
                     const struct sim_try *try, enum failure failure, int64_t now, uint64_t *random)
{
	struct account account = account_of(unit, policy);
	const struct breaker_rule *breaker = &policy->policy.breaker;

	if (policy->policy.mode == MODE_OFF)
		return;
	if (policy->policy.strategy == STRATEGY_CONCURRENCY)
		concurrency_end(&account, try->retry, try->began);
	if (try->permit)
		breaker_released(&unit->budget.breaker, breaker, try->began);
	unit->good += failure == FAILURE_NONE;
	unit->bad += failure != FAILURE_NONE;
	if (failure == FAILURE_NONE) {
		if (try->retry)
			budget_retry_answered(&account, now - try->began);
		budget_success(&account, now);
		breaker_succeeded(&unit->budget.breaker, breaker, try->permit, now);
		return;
	}
	unit->last_failure = failure;
	budget_failure(&account, try->retry, try->began, now, random);
	breaker_failed(&unit->budget.breaker, breaker, try->permit, now, random);
}

bool sim_library_returns(const struct sim_unit *unit, int64_t now)
{
	return ramp_is_on(&unit->budget.ramp, now);
}

void sim_policy_original(struct sim_policy *policy)
{
	policy->policy.bucket.floor = 0;
	policy->policy.probe = INT64_MAX / 2;
	policy->process_rule = (struct bucket_rule) { .capacity = BUCKET_CAPACITY_MAX,
		                                      .floor = BUCKET_FLOOR_MAX,
		                                      .start = PPM_WHOLE };
}
