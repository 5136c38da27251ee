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

#include "budget/gate.h"
#include "budget/leased.h"
#include "budget/strategy.h"
#include "sys/cell.h"

/*
 * ns until the probe falls due, counted from the admission in *last. An admission in the future is
 * one that a rival made with a clock read later than ours, or a corrupted word; both count as made
 * now, and the cell is mended, so that a wild value delays the probe by one interval and no more.
 */
static int64_t probe_wait(const struct account *account, int64_t now, int64_t *last)
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

/* ns until both budgets can pay, whatever the probe says. */
static int64_t budgets_wait(const struct account *account, int64_t cost, int64_t now)
{
	int64_t probe =
	    account->policy->leased && cost > 0 ? leased_probe_wait(account, now) : INT64_MAX;

	if (budget_is_barred(account))
		return probe;
	return lesser(probe,
	              greater(strategy_of(account->policy)->wait(account, cost, now),
	                      bucket_wait(account->process, account->process_rule, cost, now)));
}

static bool pay(const struct account *account, int64_t cost, int64_t now)
{
	const struct strategy_calls *strategy = strategy_of(account->policy);
	int64_t taken;

	if (budget_is_barred(account))
		return false;
	taken = strategy->take(account, cost, now);
	if (taken < 0)
		return false;
	if (bucket_withdraw(account->process, account->process_rule, cost, now) >= 0)
		return true;
	strategy->give_back(account, taken, false);
	return false;
}

int64_t budget_cost(const struct policy *policy, enum failure answered)
{
	return answered == FAILURE_TIMEOUT ? policy->cost_timeout : policy->cost;
}

void budget_tell_first_try(const struct account *account, int64_t now)
{
	strategy_of(account->policy)->note(account, NOTE_FIRST_TRY, 0, now);
}

int64_t budget_level(const struct account *account, int64_t now, int64_t *limit)
{
	return strategy_of(account->policy)->level(account, budget_moment(now), limit);
}

int64_t budget_token_wait(const struct account *account, int64_t cost, int64_t now)
{
	int64_t last;

	now = budget_moment(now);
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
	int64_t asked = LOAD(account->budget->asked);

	if (until <= now || cap == 0)
		return 0;
	if (until > later(now, cap)) {
		cell_swap(&account->budget->not_before, until, later(now, cap));
		until = later(now, cap);
	}
	if (account->answers > 0 && asked > 0)
		until = lesser(until, later(account->answers, lesser(asked, cap)));
	return greater(until - now, 0);
}

int64_t budget_asked_wait(const struct account *account, int64_t now)
{
	if (account->may_be_other || LOAD(account->budget->streak) <= 0)
		return 0;
	return asked_left(account, budget_moment(now));
}

bool budget_is_invited(const struct account *account, int64_t now)
{
	int64_t asked = LOAD(account->budget->asked);

	return asked > 0 && account->answers > 0 && !budget_is_barred(account) &&
	       account->policy->retry_after_cap > 0 && now >= later(account->answers, asked);
}

int64_t budget_due(const struct account *account, int64_t cost, int64_t now)
{
	int64_t due = 0, last;

	now = budget_moment(now);
	if (LOAD(account->budget->streak) > 0)
		due = gate_left(account, now);
	due = greater(due, budgets_wait(account, cost, now));
	return greater(lesser(due, probe_wait(account, now, &last)),
	               budget_asked_wait(account, now));
}

/* Of those who come when it falls due one gets it. */
static bool take_probe(const struct account *account, int64_t now)
{
	int64_t last;

	if (account->policy->leased) {
		if (!leased_probe(account, now))
			return false;
		STORE(account->budget->admitted_at, now);
		return true;
	}
	return probe_wait(account, now, &last) == 0 &&
	       cell_swap(&account->budget->admitted_at, last, now);
}

enum verdict budget_admit(const struct account *account, int64_t cost, int64_t now)
{
	enum verdict verdict = ADMITTED;

	now = budget_moment(now);
	if (pay(account, cost, now)) {
		STORE(account->budget->admitted_at, now);
	} else {
		if (!take_probe(account, now))
			return REFUSED;
		verdict = ADMITTED_PROBE;
	}
	gate_used(account, now);
	allowance_tried(&account->budget->allowance, now);
	return verdict;
}

/* True if nobody has asked for this destination for as long as `floor` needs to earn a token, less
 * a tenth: timers are late, and a poller's cycle of five seconds is one of 4.9 now and then. */
static bool is_rare(const struct account *account, int64_t now)
{
	int64_t floor = account->policy->bucket.floor;
	int64_t before =
	    atomic_exchange_explicit(&account->budget->wanted_at, now, memory_order_relaxed);

	if (account->policy->leased || floor <= 0 || before <= 0 || before > now ||
	    budget_is_barred(account))
		return false;
	return now - before >= MT_PER_TOKEN * NS_PER_S / 10 * 9 / floor;
}

static enum verdict admit_free(const struct account *account, int64_t now)
{
	STORE(account->budget->admitted_at, now);
	gate_used(account, now);
	allowance_tried(&account->budget->allowance, now);
	return ADMITTED_PROBE;
}

enum verdict budget_let(const struct account *account, int64_t now)
{
	now = budget_moment(now);
	STORE(account->budget->admitted_at, now);
	STORE(account->budget->wanted_at, now);
	allowance_tried(&account->budget->allowance, now);
	return ADMITTED_FREE;
}

/* The probe of a crowd (budget/crowd.h): where the gate is short, tokens alone let more go. */
static bool is_crowds_turn(const struct account *account, int64_t admitted, int64_t now)
{
	/* Not now - admitted: what stands there may be of a hostile member. */
	return admitted <= now - CROWD_LEAST / 2 && crowd_size(&account->budget->crowd, now) > 1;
}

/* Gate, then tokens. */
static enum verdict verdict_of_gate(const struct account *account, int64_t cost, bool answers,
                                    int64_t now)
{
	struct budget *budget = account->budget;
	int64_t due = LOAD(budget->due_at), admitted = LOAD(budget->admitted_at), last;

	if (answers || !gate_is_kept(account))
		return budget_admit(account, cost, now);
	if (gate_left(account, now) > 0)
		return probe_wait(account, now, &last) > 0 ? REFUSED
		                                           : budget_admit(account, cost, now);
	/* Who finds nothing to pay with leaves the gate as it is: a lease may come any moment, and
	 * hosts that all wait for the same gate would come at once when it does. */
	if (account->policy->leased && budget_token_wait(account, cost, now) > 0)
		return REFUSED;
	if (due > 0 && !gate_enter(account, due, now))
		return REFUSED;
	if (due > 0 && !account->policy->leased && !budget_is_barred(account) &&
	    (allowance_has_answer(&budget->allowance, now) ||
	     is_crowds_turn(account, admitted, now)))
		return admit_free(account, now);
	return budget_admit(account, cost, now);
}

enum verdict budget_verdict(const struct account *account, int64_t cost, int64_t now)
{
	struct budget *budget = account->budget;
	enum verdict verdict;
	bool rare, answers, heard;

	now = budget_moment(now);
	rare = is_rare(account, now);
	if (budget_asked_wait(account, now) > 0)
		return REFUSED;
	if (rare)
		return admit_free(account, now);
	answers = LOAD(budget->streak) <= 0 || allowance_is_answering(&budget->allowance, now);
	/* Of an answer elsewhere in the fleet: the gate opens, by the ramp, and tokens are paid. */
	heard = account->policy->leased && !answers && leased_has_news(account, now);
	if (heard)
		ramp_begin(&budget->ramp, true, now);
	if (ramp_is_on(&budget->ramp, now) && !budget_is_barred(account)) {
		if (heard)
			return budgets_wait(account, cost, now) == 0 &&
			               ramp_take(&budget->ramp, now)
			           ? budget_admit(account, cost, now)
			           : REFUSED;
		if (answers)
			return allowance_is_usual(&budget->allowance, now) ||
			               ramp_take(&budget->ramp, now)
			           ? budget_let(account, now)
			           : REFUSED;
		ramp_stop(&budget->ramp, now);
	}
	verdict = verdict_of_gate(account, cost, answers || heard, now);
	if (verdict == REFUSED && !answers)
		ramp_throttled(&budget->ramp, now);
	return verdict;
}

static struct bucket_rule rate_rule(const struct policy *policy)
{
	return (struct bucket_rule) { .capacity = greater(policy->burst, MT_PER_TOKEN),
		                      .floor = policy->rate,
		                      .start = PPM_WHOLE };
}

int64_t budget_rate_wait(const struct account *account, int64_t now)
{
	struct bucket_rule rule = rate_rule(account->policy);

	return bucket_wait(&account->budget->rate, &rule, MT_PER_TOKEN, budget_moment(now));
}

bool budget_keeps_rate(const struct account *account, int64_t now)
{
	struct bucket_rule rule = rate_rule(account->policy);

	return account->policy->rate <= 0 || bucket_withdraw(&account->budget->rate, &rule,
	                                                     MT_PER_TOKEN, budget_moment(now)) >= 0;
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
	int64_t capacity = lesser(greater(rule->capacity, 1), BUCKET_CAPACITY_MAX);

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

bool budget_unclear(const struct account *account, bool mixed, int64_t now)
{
	now = budget_moment(now);
	/* The start that each host has without an answer adds up over a fleet. */
	if (account->policy->leased && !allowance_has_answer(&account->budget->allowance, now))
		return false;
	return allowance_take(&account->budget->allowance, mixed, now);
}

void budget_refund(const struct account *account, int64_t cost)
{
	strategy_of(account->policy)->give_back(account, cost, true);
	bucket_deposit(account->process, account->process_rule, cost);
}
