/* SPDX-License-Identifier: MIT */
/*
 * The cells of a gate are hints whose worst is one delay drawn wrong; which of many callers goes
 * when it opens is decided by one compare-and-swap.
 */
#include "budget/gate.h"

#include "sys/cell.h"

#define STREAK_MAX INT64_C(1000000000)

int64_t gate_streak(int64_t value)
{
	return value < 0 ? 0 : lesser(value, STREAK_MAX);
}

bool gate_is_kept(const struct account *account)
{
	return account->policy->backoff.base > 0 || account->policy->backoff.min > 0;
}

/* The longest delay this policy draws; bounds what a corrupted due_at can do. */
static int64_t longest_delay(const struct policy *policy)
{
	return greater(greater(policy->backoff.cap, policy->backoff.min), 0);
}

int64_t gate_left(const struct account *account, int64_t now)
{
	int64_t due = LOAD(account->budget->due_at), longest = longest_delay(account->policy);

	if (due <= now)
		return 0;
	if (due <= later(now, longest))
		return due - now;
	cell_swap(&account->budget->due_at, due, later(now, longest));
	return longest;
}

int64_t gate_streak_age(const struct account *account, int64_t now)
{
	int64_t began = LOAD(account->budget->began_at);

	return began > 0 && began < now ? now - began : 0;
}

/* The rule, with no delay longer than the streak is old, or than a crowd has to wait. */
static struct backoff_rule rule_now(const struct account *account, int64_t now)
{
	struct backoff_rule rule = account->policy->backoff;
	int64_t crowd = crowd_size(&account->budget->crowd, now);

	if (crowd > 1)
		rule.cap = lesser(rule.cap, greater(rule.cap / crowd, CROWD_LEAST));
	rule.cap = lesser(rule.cap, greater(rule.base, gate_streak_age(account, now)));
	return rule;
}

/* The gate that an admission leaves behind, until its outcome is known. Where outcomes are slow, or
 * never known, the number of failures stands still: it grows with the streak all the same, if
 * the destination does not answer. */
static int64_t next_due(const struct account *account, int64_t now)
{
	struct backoff_rule rule = rule_now(account, now);
	int64_t streak = gate_streak(LOAD(account->budget->streak));
	int64_t aged = 0;

	if (!allowance_is_answering(&account->budget->allowance, now))
		aged = lesser(gate_streak_age(account, now), account->policy->backoff.cap / 2);
	return later(now, greater(greater(backoff_ceiling(&rule, streak) / 2, aged), rule.min));
}

void gate_used(const struct account *account, int64_t now)
{
	struct budget *budget = account->budget;
	int64_t due;

	if (LOAD(budget->streak) <= 0)
		return;
	due = next_due(account, now);
	if (LOAD(budget->due_at) < due)
		STORE(budget->due_at, due);
}

bool gate_enter(const struct account *account, int64_t due, int64_t now)
{
	return cell_swap(&account->budget->due_at, due, next_due(account, now));
}

void gate_draw(const struct account *account, bool grown, int64_t now, uint64_t *random)
{
	struct budget *budget = account->budget;
	struct backoff_rule rule = rule_now(account, now);
	int64_t delay;

	/* Decorrelated delays grow from one to the next with the streak, not with every failure of
	 * a herd of first tries. */
	if (grown)
		STORE(budget->delay_before, LOAD(budget->last_delay));
	delay = backoff_delay(&rule, gate_streak(LOAD(budget->streak)), LOAD(budget->delay_before),
	                      random);
	STORE(budget->last_delay, delay);
	STORE(budget->drawn_at, now);
	STORE(budget->due_at, later(now, delay));
}
