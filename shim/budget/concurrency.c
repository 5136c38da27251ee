/* SPDX-License-Identifier: MIT */
/*
 * Strategy `concurrency`: the retries in flight are at most a share of all attempts in flight, or a
 * fixed number if that is more:
 *
 *	retries <= max(ratio * attempts, min_concurrency)
 *
 * Source: Envoy, retry_budget of the circuit breakers (budget_percent 20 %, min_retry_concurrency
 * 3; source/common/upstream/resource_manager_impl.h: a retry may go while fewer are in flight than
 * the whole part of that). failsafe-go's Budget has nearly the same rule (config/presets.def). The
 * retry that is asked for counts among the attempts, as the request that it belongs to does there.
 *
 * What is ours: whoever is in flight is counted in the slice of time in which he began, and an end
 * takes him out of that slice. A process that is killed, or a socket that nobody closes, ends
 * nothing: its slice leaves the window, and it no longer counts. So `window` is also the longest
 * time that an attempt counts; one that takes longer makes room early.
 */
#include "budget/concurrency.h"

#include "budget/slices.h"
#include "budget/strategy.h"

static int64_t least_of(const struct policy *policy)
{
	return within(strategy_part(policy, policy->min_concurrency), 0, 1000000) * MT_PER_TOKEN;
}

/* In mt: how many retries there may be in flight beside this number of attempts. */
static int64_t limit_of(const struct policy *policy, int64_t attempts)
{
	int64_t share = attempts * within(policy->ratio, 0, 10 * MT_PER_TOKEN);

	return share > least_of(policy) ? share : least_of(policy);
}

/* True if there is room for `more` retries `later` slices from now. Attempts are counted where they
 * surely are in flight still, retries where they may be. */
static bool fits(const struct account *account, int64_t more, int later, int64_t now)
{
	const struct budget *budget = account->budget;
	int64_t window = account->policy->window;
	int64_t attempts =
	    slices_sum(&budget->requests, window, -later - SLICES_AHEAD, SLICES - 1 - later, now);
	int64_t retries =
	    slices_sum(&budget->spent, window, -later - SLICES_AHEAD, SLICES - later, now);

	return (retries + more) * MT_PER_TOKEN <= limit_of(account->policy, attempts + more);
}

static int64_t concurrency_wait(const struct account *account, int64_t cost, int64_t now)
{
	(void)cost;
	for (int later = 0; later <= SLICES + SLICES_AHEAD + 1; later++)
		if (fits(account, 1, later, now))
			return slices_until(account->policy->window, later, now);
	return INT64_MAX;
}

/* Counted first and looked at then, as in window.c. The retry is the last to count among the
 * attempts: nobody may go on the strength of one that is rejected. */
static int64_t concurrency_take(const struct account *account, int64_t cost, int64_t now)
{
	struct budget *budget = account->budget;
	int64_t window = account->policy->window;

	(void)cost;
	if (!fits(account, 1, 0, now))
		return -1;
	slices_add(&budget->spent, window, 1, now);
	/* One more attempt on both sides of what fits() compares, and no more retries. */
	if (slices_covering(&budget->spent, window, now) * MT_PER_TOKEN >
	    limit_of(account->policy,
	             slices_sum(&budget->requests, window, -SLICES_AHEAD, SLICES - 1, now) + 1)) {
		slices_add(&budget->spent, window, -1, now);
		return -1;
	}
	slices_add(&budget->requests, window, 1, now);
	return 1;
}

static void concurrency_refund(const struct account *account, int64_t mt, bool goes)
{
	(void)mt;
	if (!goes)
		slices_undo(&account->budget->requests, 1);
	slices_undo(&account->budget->spent, 1);
}

static void concurrency_note(const struct account *account, enum event_kind kind, int64_t cost,
                             int64_t now)
{
	(void)cost;
	if (kind == NOTE_FIRST_TRY)
		slices_add(&account->budget->requests, account->policy->window, 1, now);
}

void concurrency_end(const struct account *account, bool retry, int64_t began)
{
	struct budget *budget = account->budget;

	slices_add(&budget->requests, account->policy->window, -1, began);
	if (retry)
		slices_add(&budget->spent, account->policy->window, -1, began);
}

static int64_t concurrency_level(const struct account *account, int64_t now, int64_t *limit)
{
	const struct budget *budget = account->budget;
	int64_t window = account->policy->window, left;

	*limit = limit_of(account->policy, slices_within(&budget->requests, window, now) + 1);
	left = *limit - slices_covering(&budget->spent, window, now) * MT_PER_TOKEN;
	return greater(left, 0);
}

const struct strategy_calls strategy_concurrency = {
	concurrency_wait, concurrency_take, concurrency_refund, concurrency_note, concurrency_level,
};
