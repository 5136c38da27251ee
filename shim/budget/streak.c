/* SPDX-License-Identifier: MIT */
/* Outcomes in a row: how a streak grows, and how a success ends it. */
#include "budget/streak.h"

#include "budget/gate.h"
#include "budget/strategy.h"
#include "sys/cell.h"

/* A streak of this age is an outage, and no work that fails among work that does not. */
#define OUTAGE NS_PER_S

int64_t budget_failure(const struct account *account, bool retry, int64_t began, int64_t now,
                       uint64_t *random)
{
	struct budget *budget = account->budget;
	int64_t seen = LOAD(budget->streak), streak, drawn;

	now = budget_moment(now);
	do {
		streak = gate_streak(seen);
		if (retry || streak == 0)
			streak = gate_streak(streak + 1);
	} while (!atomic_compare_exchange_weak_explicit(
	    &budget->streak, &seen, streak, memory_order_relaxed, memory_order_relaxed));
	if (seen <= 0)
		STORE(budget->began_at, now);

	strategy_of(account->policy)->note(account, NOTE_FAILURE, account->policy->cost, now);
	if (account->policy->sample < PPM_WHOLE)
		STORE(budget->barred,
		      random_upto(random, PPM_WHOLE - 1) >= greater(account->policy->sample, 0));
	else if (LOAD(budget->barred) != 0)
		STORE(budget->barred, 0);

	allowance_failed(&budget->allowance, began, now);
	if (retry)
		ramp_failed(&budget->ramp);
	STORE(budget->failed_at, now);
	if (LOAD(budget->retry_after) != 0) /* of that failure; this one's reply may ask for more */
		STORE(budget->retry_after, 0);
	drawn = LOAD(budget->drawn_at);
	/* The first failure of a streak may have been the only one, and a client that tries again
	 * once is no storm: that one goes. A gate drawn in the future was corrupted. */
	if (seen <= 0)
		STORE(budget->due_at, now);
	else if (began >= drawn || drawn > now || LOAD(budget->due_at) == 0)
		gate_draw(account, streak != seen, now, random);
	return streak;
}

void budget_answered_before(const struct account *account, int64_t answered, int64_t now)
{
	allowance_answered_before(&account->budget->allowance, answered, budget_moment(now));
}

void budget_failed_before(const struct account *account, int64_t at, int64_t now)
{
	struct budget *budget = account->budget;
	int64_t due = LOAD(budget->due_at), earlier = now - at;

	if (earlier > 0 && LOAD(budget->drawn_at) == budget_moment(now))
		cell_swap(&budget->due_at, due, due > earlier ? due - earlier : 1);
}

int64_t budget_success(const struct account *account, int64_t now)
{
	struct budget *budget = account->budget;
	int64_t ended = 0;

	now = budget_moment(now); /* the floor is paid at the next withdrawal: a swap less here */
	strategy_of(account->policy)->note(account, NOTE_SUCCESS, 0, now);
	bucket_deposit(account->process, account->process_rule, account->process_rule->earn);
	allowance_answered(&budget->allowance, now);
	if (LOAD(budget->streak) != 0)
		ended = gate_streak(atomic_exchange(&budget->streak, 0)); /* as LOAD_ORDERED() */
	if (ended > 0) {
		ramp_begin(&budget->ramp, gate_streak_age(account, now) > OUTAGE, now);
		STORE(budget->due_at, 0);
		STORE(budget->drawn_at, 0);
		STORE(budget->not_before, 0);
		STORE(budget->last_delay, 0);
		STORE(budget->delay_before, 0);
		STORE(budget->barred, 0);
	}
	if (ramp_is_on(&budget->ramp, now)) /* by answers it goes on */
		STORE(budget->allowance.watching, 1);
	return ended;
}

void budget_retry_after(const struct account *account, int64_t wanted, int64_t now)
{
	cell64 *cell = &account->budget->not_before;
	int64_t cap = greater(account->policy->retry_after_cap, 0), before = LOAD(*cell), until;

	now = budget_moment(now);
	until = later(now, lesser(wanted, cap));
	/* One that lies further ahead than any may was corrupted. */
	if (until > now && (before < until || before > later(now, cap))) {
		STORE(account->budget->retry_after, until - now);
		STORE(*cell, until);
	}
}
