/* SPDX-License-Identifier: MIT */
/* What a retry waits for, by the clock: gate, tokens, probe, and the moment that the server asked
 * for. Nothing is taken here; a moment that cannot be is mended. */
#include "budget/budget_wait.h"

#include "budget/gate.h"
#include "budget/leased.h"
#include "budget/strategy.h"
#include "sys/cell.h"

int64_t budget_probe_wait(const struct account *account, int64_t now, int64_t *last)
{
	int64_t probe = greater(account->policy->probe, 1);

	if (account->policy->leased)
		return leased_override_wait(account, now);
	*last = LOAD(account->budget->admitted_at);
	if (*last < 1)
		return 0;
	if (*last > now) {
		cell_swap(&account->budget->admitted_at, *last, now);
		return probe;
	}
	return greater(probe - (now - *last), 0);
}

bool budget_is_barred(const struct account *account)
{
	int64_t most = account->policy->max_attempts;

	return LOAD(account->budget->barred) != 0 ||
	       (most > 0 && LOAD(account->budget->streak) >= most);
}

int64_t budget_pay_wait(const struct account *account, int64_t cost, int64_t now)
{
	int64_t probe =
	    account->policy->leased && cost > 0 ? leased_probe_wait(account, now) : INT64_MAX;

	if (budget_is_barred(account))
		return probe;
	return lesser(probe,
	              greater(strategy_of(account->policy)->wait(account, cost, now),
	                      bucket_wait(account->process, account->process_rule, cost, now)));
}

int64_t budget_level(const struct account *account, int64_t now, int64_t *limit)
{
	return strategy_of(account->policy)->level(account, budget_moment(now), limit);
}

int64_t budget_token_wait(const struct account *account, int64_t cost, int64_t now)
{
	int64_t last;

	now = budget_moment(now);
	return lesser(budget_pay_wait(account, cost, now), budget_probe_wait(account, now, &last));
}

/*
 * ns until the moment that the server asked for, as far as the policy obeys it. One further off
 * than that comes from a longer cap before a reload, or from a corrupted word, and is moved up: cut
 * only, it would be as far off the next time, and nothing would ever go again.
 */
static int64_t retry_after_left(const struct account *account, int64_t now)
{
	int64_t until = LOAD(account->budget->not_before);
	int64_t cap = greater(account->policy->retry_after_cap, 0);
	int64_t wanted = LOAD(account->budget->retry_after);

	if (until <= now || cap == 0)
		return 0;
	if (until > later(now, cap)) {
		cell_swap(&account->budget->not_before, until, later(now, cap));
		until = later(now, cap);
	}
	if (account->claimed_at > 0 && wanted > 0)
		until = lesser(until, later(account->claimed_at, lesser(wanted, cap)));
	return greater(until - now, 0);
}

int64_t budget_retry_after_wait(const struct account *account, int64_t now)
{
	if (account->may_be_other || LOAD(account->budget->streak) <= 0)
		return 0;
	return retry_after_left(account, budget_moment(now));
}

bool budget_is_invited(const struct account *account, int64_t now)
{
	int64_t wanted = LOAD(account->budget->retry_after);

	return wanted > 0 && account->claimed_at > 0 && !budget_is_barred(account) &&
	       account->policy->retry_after_cap > 0 && now >= later(account->claimed_at, wanted);
}

int64_t budget_due(const struct account *account, int64_t cost, int64_t now)
{
	int64_t due = 0, last;

	now = budget_moment(now);
	if (LOAD(account->budget->streak) > 0)
		due = gate_left(account, now);
	due = greater(due, budget_pay_wait(account, cost, now));
	return greater(lesser(due, budget_probe_wait(account, now, &last)),
	               budget_retry_after_wait(account, now));
}

int budget_is_exhausted(const struct account *account, int64_t cost, int64_t now)
{
	int exhausted = 0;

	now = budget_moment(now);
	if (budget_is_barred(account) || strategy_of(account->policy)->wait(account, cost, now) > 0)
		exhausted |= EXHAUSTED_OWN;
	if (bucket_wait(account->process, account->process_rule, cost, now) > 0)
		exhausted |= EXHAUSTED_PROCESS;
	return exhausted;
}

/* The capacity as the bucket clamps it, whatever the file says. */
static bool is_full(struct bucket *bucket, const struct bucket_rule *rule, int64_t now)
{
	int64_t capacity = within(rule->capacity, 1, BUCKET_CAPACITY_MAX);

	return bucket_level(bucket, rule, now) >= capacity;
}

bool budget_is_refilled(const struct account *account, int exhausted, int64_t now)
{
	int64_t limit, level;

	now = budget_moment(now);
	if (exhausted & EXHAUSTED_PROCESS && !is_full(account->process, account->process_rule, now))
		return false;
	level = budget_level(account, now, &limit);
	/* Bits that are none of ours are of a corrupted word: it is no reason to wait for ever. */
	return !(exhausted & EXHAUSTED_OWN) || (level >= limit && !budget_is_barred(account));
}
