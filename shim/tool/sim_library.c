/* SPDX-License-Identifier: MIT */
/* The order of the questions is that of conn/judging.c, pace/verdict.c and conn/outcome.c. */
#include "tool/sim_library.h"

#include "budget/budget_wait.h"
#include "budget/concurrency.h"
#include "budget/rate.h"
#include "budget/streak.h"
#include "dest/rules.h"
#include "region/region.h"

/* Repeats after which a program is known to try again (dest/profile.c). */
#define KNOWN 2

/* Refusals after which a thread may go where others are answered, and failures after which it
 * fails by itself (dest/tries.c); what counts of a failure's time (dest/answer_time.c). */
#define DENIED 2
#define VAIN   15
#define WEIGHT 8

/* Age of a streak from which its end forgives what is unanswered (conn/outcome.c). */
#define FORGIVEN NS_PER_S

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
	       budget_retry_after_wait(account, now) <= 0;
}

static bool has_been_denied(const struct account *account, const struct sim_try *try, int64_t now)
{
	return try->denials >= DENIED && try->vain < VAIN &&
	       allowance_is_answering(&account->budget->allowance, now) &&
	       !budget_is_barred(account) && budget_retry_after_wait(account, now) <= 0;
}

/* A thread answers its own failure; those that found no place belong to nobody, and whoever comes
 * next answers them, new work too (dest/failures.h). */
static bool claims(struct sim_unit *unit, struct sim_try *try)
{
	bool own = try->place == unit->forgiven + 1, found = own || unit->unplaced > 0;

	unit->placed -= own;
	unit->unplaced -= found && !own;
	try->place = 0;
	return found;
}

static void leave_unanswered(struct sim_unit *unit, struct sim_try *try)
{
	if (unit->placed < REGION_FAILURES) {
		unit->placed++;
		try->place = unit->forgiven + 1;
	} else {
		unit->unplaced++;
	}
}

void sim_library_abandoned(struct sim_unit *unit, int64_t place)
{
	bool stands = place == unit->forgiven + 1;

	unit->placed -= stands;
	unit->unplaced += stands;
}

static void forgive(struct sim_unit *unit)
{
	unit->forgiven++;
	unit->placed = unit->unplaced = 0;
}

static void judge(struct sim_unit *unit, const struct account *account,
                  const struct sim_policy *policy, struct sim_try *try, int64_t now)
{
	bool returns = ramp_is_on(&unit->budget.ramp, now);
	struct evidence evidence = {
		.quiet = budget_is_quiet(account, now),
		.demand = try->asked,
		.again = try->follows && unit->tried_again >= KNOWN,
		.loop = try->follows &&
		        (returns || (LOAD(unit->budget.streak) > 0 && !may_be_next(account, now))),
	};
	const struct rule *rule;
	bool claimed;

	evidence.denied = !policy->original && !returns && (evidence.again || evidence.loop) &&
	                  has_been_denied(account, try, now);
	rule = rule_for(&evidence);
	if (evidence.quiet)
		forgive(unit);
	claimed = claims(unit, try) && !policy->original;
	try->unclear = rule->says == KIND_UNCLEAR && (claimed || try->follows);
	try->retry =
	    try->unclear || rule->says == KIND_REPEAT ||
	    (rule->says == KIND_UNCLEAR && !budget_unclear(account, WORKLOAD_UNKNOWN, now));
}

static bool ask(struct sim_unit *unit, const struct account *account, struct sim_try *try,
                int64_t now)
{
	int64_t cost = budget_cost(account->policy, unit->last_failure);
	const struct breaker_rule *rule = &account->policy->breaker;
	enum verdict verdict = ADMITTED;
	enum breaker_change change;
	enum breaker_verdict breaker;

	try->over_rate = false;
	if (try->retry && breaker_not_closed(&unit->budget.breaker, rule) &&
	    budget_retry_after_wait(account, now) > 0)
		return false;
	breaker = breaker_ask(&unit->budget.breaker, rule, now, &change);
	if (breaker == BREAKER_HOLD)
		return false;
	try->permit = breaker == BREAKER_PROBE;
	if (try->retry)
		verdict = try->unclear && budget_unclear(account, WORKLOAD_UNKNOWN, now)
		              ? budget_admit_free(account, now)
		              : budget_verdict(account, cost, now);
	if (try->permit)
		return true;
	if (verdict == REFUSED)
		return false;
	try->over_rate = !budget_keeps_rate(account, now);
	if (!try->over_rate)
		return true;
	if (try->retry && verdict == ADMITTED)
		budget_refund(account, cost, budget_source(account, now));
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
	judge(unit, &account, policy, try, now);
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
	goes = ask(unit, &account, try, now);
	return goes || policy->policy.mode == MODE_OBSERVE;
}

bool sim_library_again(struct sim_unit *unit, const struct sim_policy *policy, struct sim_try *try,
                       int64_t now)
{
	struct account account = account_of(unit, policy);
	bool goes = ask(unit, &account, try, now);

	if (goes)
		try->began = now;
	return goes;
}

int64_t sim_library_rate_wait(struct sim_unit *unit, const struct sim_policy *policy, int64_t now)
{
	struct account account = account_of(unit, policy);

	return budget_rate_wait(&account, now);
}

void sim_library_refused(struct sim_unit *unit, const struct sim_policy *policy,
                         struct sim_try *try, int64_t now)
{
	if (policy->scope != SCOPE_PROCESS)
		crowd_refused(&unit->budget.crowd, false, now);
	if (!try->retry && try->over_rate) /* nothing has failed */
		return;
	try->denials++;
	leave_unanswered(unit, try);
	/* The horizon counts from the last time that somebody wanted to go. */
	STORE(unit->budget.failed_at, now);
}

static void count_outcome(struct sim_unit *unit, struct sim_try *try, bool failed, int64_t now)
{
	int64_t took = now - try->began;

	unit->good += !failed;
	unit->bad += failed;
	unit->won += try->retry && !failed;
	unit->lost += try->retry && failed;
	if (!failed) {
		try->vain = 0;
		return;
	}
	try->denials = 0;
	try->vain++;
	leave_unanswered(unit, try);
	unit->failing += unit->failing > 0 ? (took - unit->failing) / WEIGHT : took;
	unit->failing = greater(unit->failing, 1);
}

void sim_library_end(struct sim_unit *unit, const struct sim_policy *policy, struct sim_try *try,
                     enum failure failure, int64_t now, uint64_t *random)
{
	struct account account = account_of(unit, policy);
	const struct breaker_rule *breaker = &policy->policy.breaker;

	if (policy->policy.mode == MODE_OFF)
		return;
	if (policy->policy.strategy == STRATEGY_CONCURRENCY)
		concurrency_end(&account, try->retry, try->began);
	if (try->permit)
		breaker_released(&unit->budget.breaker, breaker, try->began);
	count_outcome(unit, try, failure != FAILURE_NONE, now);
	if (failure == FAILURE_NONE) {
		int64_t began = unit->budget.began_at;

		if (try->retry)
			budget_retry_answered(&account, now - try->began);
		if (budget_success(&account, now) > 0 && began < now - FORGIVEN)
			forgive(unit);
		breaker_succeeded(&unit->budget.breaker, breaker, try->permit, now);
		return;
	}
	unit->last_failure = failure;
	budget_answered_before(&account, unit->good, now);
	budget_failure(&account, try->retry, try->began, now, random);
	breaker_failed(&unit->budget.breaker, breaker, try->permit, now, random);
}

void sim_policy_original(struct sim_policy *policy)
{
	policy->policy.bucket.floor = 0;
	policy->policy.probe = INT64_MAX / 2;
	policy->original = true;
	policy->process_rule = (struct bucket_rule) { .capacity = BUCKET_CAPACITY_MAX,
		                                      .floor = BUCKET_FLOOR_MAX,
		                                      .start = PPM_WHOLE };
}
