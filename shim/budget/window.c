/* SPDX-License-Identifier: MIT */
/*
 * Strategy `window`: the retries of the last `window` are at most a share of what else happened in
 * it, or a fixed number if that is more:
 *
 *	retries <= max(ratio * successes, window_min)          reserve = least
 *	retries <= ratio * requests + window_min               reserve = extra, ratio_of = requests
 *
 * Source of the second: Finagle's RetryBudget (com.twitter.finagle.service.RetryBudget: deposits
 * that expire after `ttl`, a reserve of minRetriesPerSec * ttl on top; defaults 10 s, 10/s, 20 %)
 * and Linkerd's retryBudget (the same rule and numbers). The first is the sliding window as it is
 * usually described.
 *
 * What is ours: their reserve can go in one instant, a hundred connects at once to a server that
 * has just come back. Here no slice (a tenth) of the window gets more than its own part of the
 * reserve, in whole tokens. And where a slice is only partly within the window it counts in full
 * among the retries and not at all among what earns: so the rule holds for every stretch of
 * `window`.
 */
#include "budget/slices.h"
#include "budget/strategy.h"

static int64_t reserve_of(const struct policy *policy)
{
	return within(strategy_part(policy, policy->window_min), 0, BUCKET_CAPACITY_MAX);
}

/* As in the bucket, what costs more than there ever is costs all there is, of all instances; with
 * nothing there it costs what it costs. */
static int64_t price_of(const struct policy *policy, int64_t cost)
{
	int64_t most = within(policy->window_min, 0, BUCKET_CAPACITY_MAX);

	return within(cost, 0, most > 0 ? most : BUCKET_CAPACITY_MAX);
}

/* A slice's part of the reserve: whole tokens, and enough for one retry. */
static int64_t part_of(const struct policy *policy, int64_t price)
{
	int64_t reserve = reserve_of(policy), part = reserve / SLICES + (reserve % SLICES > 0);

	part = (part + MT_PER_TOKEN - 1) / MT_PER_TOKEN * MT_PER_TOKEN;
	return lesser(greater(part, price), reserve);
}

static int64_t earned(const struct account *account, int64_t window, int first, int64_t now)
{
	/* 10 slices of 2^32 at 10,000 mt each: short of overflow. */
	return slices_sum(&account->budget->requests, window, first, first + SLICES - 1, now) *
	       within(account->policy->ratio, 0, 10 * MT_PER_TOKEN);
}

static int64_t together(const struct policy *policy, int64_t earns, int64_t reserve)
{
	return policy->reserve == RESERVE_EXTRA ? earns + reserve : greater(earns, reserve);
}

/* True if what is spent, with `more` on top, is within the rule `later` slices from now. */
static bool fits(const struct account *account, int64_t price, int64_t more, int later, int64_t now)
{
	const struct policy *policy = account->policy;
	const struct slices *spent = &account->budget->spent;
	int64_t earns = earned(account, policy->window, -later, now);
	int64_t all = slices_sum(spent, policy->window, -later - SLICES_AHEAD, SLICES - later, now);
	int64_t slice = slices_sum(spent, policy->window, -later - SLICES_AHEAD, -later, now);

	return all + more <= together(policy, earns, reserve_of(policy)) &&
	       slice + more <= together(policy, earns, part_of(policy, price));
}

static int64_t window_wait(const struct account *account, int64_t cost, int64_t now)
{
	int64_t price = price_of(account->policy, cost);

	/* Both sides change only where a slice begins. */
	for (int later = 0; later <= SLICES + SLICES_AHEAD + 1; later++)
		if (fits(account, price, price, later, now))
			return slices_until(account->policy->window, later, now);
	return INT64_MAX;
}

/* Counted first and looked at then: of rivals that each see the other, none goes too many. */
static int64_t window_take(const struct account *account, int64_t cost, int64_t now)
{
	struct slices *spent = &account->budget->spent;
	int64_t price = price_of(account->policy, cost);

	if (!fits(account, price, price, 0, now))
		return -1;
	slices_add(spent, account->policy->window, price, now);
	if (fits(account, price, 0, 0, now))
		return price;
	slices_add(spent, account->policy->window, -price, now);
	return -1;
}

static void window_refund(const struct account *account, int64_t mt, bool goes)
{
	(void)goes;
	slices_undo(&account->budget->spent, price_of(account->policy, mt));
}

static void window_note(const struct account *account, enum event_kind kind, int64_t cost,
                        int64_t now)
{
	(void)cost;
	if (kind ==
	    (account->policy->ratio_of == RATIO_OF_REQUESTS ? NOTE_FIRST_TRY : NOTE_SUCCESS))
		slices_add(&account->budget->requests, account->policy->window, 1, now);
}

static int64_t window_level(const struct account *account, int64_t now, int64_t *limit)
{
	const struct policy *policy = account->policy;

	*limit = together(policy, earned(account, policy->window, 0, now), reserve_of(policy));
	return greater(*limit - slices_covering(&account->budget->spent, policy->window, now), 0);
}

const struct strategy_calls strategy_window = {
	window_wait, window_take, window_refund, window_note, window_level,
};
