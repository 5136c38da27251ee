/* SPDX-License-Identifier: MIT */
/*
 * Composes a destination's budget, as its strategy decides, with the process-wide one.
 *
 * The cells are not changed together, and need not be: tokens keep their own sums (bucket.c), the
 * streak and the probe are each decided by one compare-and-swap, and the rest are hints whose worst
 * is one delay drawn wrong. Every value read is brought into range first, since another process may
 * have written garbage.
 */
#include "budget/budget.h"

#include "budget/strategy.h"
#include "sys/cell.h"

#define STREAK_MAX INT64_C(1000000000)

/* Moments start at 1: 0 stands for "never" in the cells. */
static int64_t moment(int64_t now)
{
	return now < 1 ? 1 : now;
}

static int64_t in_streak(int64_t value)
{
	return value < 0 ? 0 : lesser(value, STREAK_MAX);
}

/*
 * ns until the probe falls due, counted from the admission in *last. An admission in the future is
 * one that a rival made with a clock read later than ours, or a corrupted word; both count as made
 * now, and the cell is mended, so that a wild value delays the probe by one interval and no more.
 */
static int64_t probe_wait(const struct account *account, int64_t now, int64_t *last)
{
	int64_t probe = greater(account->policy->probe, 1);

	*last = LOAD(account->budget->admitted_at);
	if (*last < 1)
		return 0;
	if (*last > now) {
		cell_swap(&account->budget->admitted_at, *last, now);
		return probe;
	}
	return greater(probe - (now - *last), 0);
}

/* True if neither tokens nor time make a retry go, but the probe alone. */
static bool is_barred(const struct account *account)
{
	int64_t most = account->policy->max_attempts;

	return LOAD(account->budget->barred) != 0 ||
	       (most > 0 && LOAD(account->budget->streak) >= most);
}

/* ns until both budgets can pay, whatever the probe says. */
static int64_t budgets_wait(const struct account *account, int64_t cost, int64_t now)
{
	if (is_barred(account))
		return INT64_MAX;
	return greater(strategy_of(account->policy)->wait(account, cost, now),
	               bucket_wait(account->process, account->process_rule, cost, now));
}

/* The longest delay this policy draws; bounds what a corrupted due_at can do. */
static int64_t longest_delay(const struct policy *policy)
{
	return greater(greater(policy->backoff.cap, policy->backoff.min), 0);
}

static bool pay(const struct account *account, int64_t cost, int64_t now)
{
	const struct strategy_calls *strategy = strategy_of(account->policy);
	int64_t taken;

	if (is_barred(account))
		return false;
	taken = strategy->take(account, cost, now);
	if (taken < 0)
		return false;
	if (bucket_withdraw(account->process, account->process_rule, cost, now) >= 0)
		return true;
	strategy->give_back(account, taken, false);
	return false;
}

/* ns until due_at. One further off than any delay that the policy draws is moved up, as in
 * asked_left(): a caller that cannot wait would else be throttled until the probe. */
static int64_t due_left(const struct account *account, int64_t now)
{
	int64_t due = LOAD(account->budget->due_at), longest = longest_delay(account->policy);

	if (due <= now)
		return 0;
	if (due <= later(now, longest))
		return due - now;
	cell_swap(&account->budget->due_at, due, later(now, longest));
	return longest;
}

/* The rule, with no delay longer than the streak is old. */
static struct backoff_rule rule_now(const struct account *account, int64_t now)
{
	struct backoff_rule rule = account->policy->backoff;
	int64_t began = LOAD(account->budget->began_at);
	int64_t age = began > 0 && began < now ? now - began : 0;

	rule.cap = lesser(rule.cap, greater(rule.base, age));
	return rule;
}

/* The gate that an admission leaves behind, until its outcome is known. */
static int64_t next_due(const struct account *account, int64_t now)
{
	struct backoff_rule rule = rule_now(account, now);
	int64_t streak = in_streak(LOAD(account->budget->streak));

	return later(now, greater(backoff_ceiling(&rule, streak) / 2, rule.min));
}

static void move_due(const struct account *account, int64_t now)
{
	struct budget *budget = account->budget;
	int64_t due;

	if (LOAD(budget->streak) <= 0)
		return;
	due = next_due(account, now);
	if (LOAD(budget->due_at) < due)
		STORE(budget->due_at, due);
}

int64_t budget_cost(const struct policy *policy, enum failure answered)
{
	return answered == FAILURE_TIMEOUT ? policy->cost_timeout : policy->cost;
}

void budget_first_try(const struct account *account, int64_t now)
{
	now = moment(now);
	STORE(account->budget->admitted_at, now);
	STORE(account->budget->wanted_at, now);
	allowance_tried(&account->budget->allowance, now);
	strategy_of(account->policy)->note(account, NOTE_FIRST_TRY, 0, now);
}

int64_t budget_level(const struct account *account, int64_t now, int64_t *limit)
{
	return strategy_of(account->policy)->level(account, moment(now), limit);
}

int64_t budget_token_wait(const struct account *account, int64_t cost, int64_t now)
{
	int64_t last;

	now = moment(now);
	return lesser(budgets_wait(account, cost, now), probe_wait(account, now, &last));
}

/*
 * ns until the moment that the server asked for, as far as the policy obeys it. One further off
 * than that comes from a longer cap before a reload, or from a corrupted word, and is moved up: cut
 * only, it would be as far off the next time, and nothing would ever go again.
 */
static int64_t asked_left(const struct account *account, int64_t now)
{
	int64_t until = LOAD(account->budget->not_before);
	int64_t cap = greater(account->policy->retry_after_cap, 0);

	if (until <= now || cap == 0)
		return 0;
	if (until <= later(now, cap))
		return until - now;
	cell_swap(&account->budget->not_before, until, later(now, cap));
	return cap;
}

int64_t budget_asked_wait(const struct account *account, int64_t now)
{
	return LOAD(account->budget->streak) <= 0 ? 0 : asked_left(account, moment(now));
}

void budget_retry_after(const struct account *account, int64_t wanted, int64_t now)
{
	cell64 *cell = &account->budget->not_before;
	int64_t cap = greater(account->policy->retry_after_cap, 0), before = LOAD(*cell), until;

	now = moment(now);
	until = later(now, lesser(wanted, cap));
	/* One that lies further ahead than any may was corrupted. */
	if (until > now && (before < until || before > later(now, cap)))
		STORE(*cell, until);
}

int64_t budget_due(const struct account *account, int64_t cost, int64_t now)
{
	int64_t due = 0, last;

	now = moment(now);
	if (LOAD(account->budget->streak) > 0)
		due = due_left(account, now);
	due = greater(due, budgets_wait(account, cost, now));
	return greater(lesser(due, probe_wait(account, now, &last)),
	               budget_asked_wait(account, now));
}

enum verdict budget_admit(const struct account *account, int64_t cost, int64_t now)
{
	enum verdict verdict = ADMITTED;
	int64_t last;

	now = moment(now);
	if (pay(account, cost, now)) {
		STORE(account->budget->admitted_at, now);
	} else {
		if (probe_wait(account, now, &last) > 0 ||
		    !cell_swap(&account->budget->admitted_at, last, now))
			return REFUSED;
		verdict = ADMITTED_PROBE;
	}
	move_due(account, now);
	allowance_tried(&account->budget->allowance, now);
	return verdict;
}

/* False if the policy has no backoff: tokens alone decide then, also among rivals of one moment. */
static bool has_gate(const struct account *account)
{
	return account->policy->backoff.base > 0 || account->policy->backoff.min > 0;
}

/* True if nobody has asked for this destination for as long as `floor` needs to earn a token, less
 * a tenth: timers are late, and a poller's cycle of five seconds is one of 4.9 now and then. */
static bool is_rare(const struct account *account, int64_t now)
{
	int64_t floor = account->policy->bucket.floor;
	int64_t before =
	    atomic_exchange_explicit(&account->budget->wanted_at, now, memory_order_relaxed);

	if (floor <= 0 || before <= 0 || before > now || is_barred(account))
		return false;
	return now - before >= MT_PER_TOKEN * NS_PER_S / 10 * 9 / floor;
}

static enum verdict admit_free(const struct account *account, int64_t now)
{
	STORE(account->budget->admitted_at, now);
	move_due(account, now);
	allowance_tried(&account->budget->allowance, now);
	return ADMITTED_PROBE;
}

enum verdict budget_let(const struct account *account, int64_t now)
{
	now = moment(now);
	STORE(account->budget->admitted_at, now);
	STORE(account->budget->wanted_at, now);
	allowance_tried(&account->budget->allowance, now);
	return ADMITTED_FREE;
}

enum verdict budget_verdict(const struct account *account, int64_t cost, int64_t now)
{
	struct budget *budget = account->budget;
	int64_t due = LOAD(budget->due_at), last;
	bool rare;

	now = moment(now);
	rare = is_rare(account, now);
	if (budget_asked_wait(account, now) > 0)
		return REFUSED;
	if (rare)
		return admit_free(account, now);
	if (LOAD(budget->streak) <= 0 || !has_gate(account) ||
	    allowance_is_answering(&budget->allowance, now))
		return budget_admit(account, cost, now);
	if (due_left(account, now) > 0)
		return probe_wait(account, now, &last) > 0 ? REFUSED
		                                           : budget_admit(account, cost, now);
	/* Of those who come when the gate opens one goes. */
	if (due > 0 && !cell_swap(&budget->due_at, due, next_due(account, now)))
		return REFUSED;
	if (due > 0 && !is_barred(account) && allowance_has_answer(&budget->allowance, now))
		return admit_free(account, now);
	return budget_admit(account, cost, now);
}

bool budget_is_exhausted(const struct account *account, int64_t cost, int64_t now)
{
	return budgets_wait(account, cost, moment(now)) > 0;
}

bool budget_unclear(const struct account *account, int64_t now)
{
	return allowance_take(&account->budget->allowance, moment(now));
}

void budget_refund(const struct account *account, int64_t cost)
{
	strategy_of(account->policy)->give_back(account, cost, true);
	bucket_deposit(account->process, account->process_rule, cost);
}

static void draw_gate(const struct account *account, bool grown, int64_t now, uint64_t *random)
{
	struct budget *budget = account->budget;
	struct backoff_rule rule = rule_now(account, now);
	int64_t delay;

	/* Decorrelated delays grow from one to the next with the streak, not with every failure of
	 * a herd of first tries. */
	if (grown)
		STORE(budget->delay_before, LOAD(budget->last_delay));
	delay = backoff_delay(&rule, in_streak(LOAD(budget->streak)), LOAD(budget->delay_before),
	                      random);
	STORE(budget->last_delay, delay);
	STORE(budget->drawn_at, now);
	STORE(budget->due_at, later(now, delay));
}

int64_t budget_failure(const struct account *account, bool retry, int64_t began, int64_t now,
                       uint64_t *random)
{
	struct budget *budget = account->budget;
	int64_t seen = LOAD(budget->streak), streak, drawn;

	now = moment(now);
	do {
		streak = in_streak(seen);
		if (retry || streak == 0)
			streak = in_streak(streak + 1);
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

	allowance_failed(&budget->allowance, now);
	STORE(budget->failed_at, now);
	drawn = LOAD(budget->drawn_at);
	/* The first failure of a streak may have been the only one, and a client that tries again
	 * once is no storm: that one goes. A gate drawn in the future was corrupted. */
	if (seen <= 0)
		STORE(budget->due_at, now);
	else if (began >= drawn || drawn > now || LOAD(budget->due_at) == 0)
		draw_gate(account, streak != seen, now, random);
	return streak;
}

void budget_failed_before(const struct account *account, int64_t at, int64_t now)
{
	struct budget *budget = account->budget;
	int64_t due = LOAD(budget->due_at), earlier = now - at;

	if (earlier > 0 && LOAD(budget->drawn_at) == moment(now))
		cell_swap(&budget->due_at, due, greater(due - earlier, 1));
}

int64_t budget_success(const struct account *account, int64_t now)
{
	struct budget *budget = account->budget;
	int64_t ended = 0;

	now = moment(now); /* the floor is paid at the next withdrawal: a swap less here */
	strategy_of(account->policy)->note(account, NOTE_SUCCESS, 0, now);
	bucket_deposit(account->process, account->process_rule, account->process_rule->earn);
	allowance_answered(&budget->allowance, now);
	if (LOAD(budget->streak) != 0)
		ended =
		    in_streak(atomic_exchange_explicit(&budget->streak, 0, memory_order_relaxed));
	if (ended > 0) {
		STORE(budget->due_at, 0);
		STORE(budget->drawn_at, 0);
		STORE(budget->not_before, 0);
		STORE(budget->last_delay, 0);
		STORE(budget->delay_before, 0);
		STORE(budget->barred, 0);
	}
	return ended;
}
