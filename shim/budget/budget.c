/* SPDX-License-Identifier: MIT */
/*
 * Composes a destination's budget, as its strategy decides, with the process-wide one: what lets a
 * retry go, and takes what that costs.
 *
 * The cells are not changed together, and need not be: tokens keep their own sums (bucket.c), the
 * streak and the probe are each decided by one compare-and-swap, and the rest are hints whose worst
 * is one delay drawn wrong. Every value read is brought into range first, since another process may
 * have written garbage.
 */
#include "budget/budget.h"

#include "budget/budget_wait.h"
#include "budget/gate.h"
#include "budget/leased.h"
#include "budget/strategy.h"
#include "sys/cell.h"

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
	strategy->refund(account, taken, false);
	return false;
}

/* The failure that begins a streak may have been the only one: where somebody is there, its repeat
 * needs the destination's token alone, once in `probe`. A crawler that meets hundreds of dead hosts
 * has emptied the process's, and would lose what fails once at hosts that are well. */
static bool pay_alone(const struct account *account, int64_t cost, int64_t now)
{
	cell64 *cell = &account->budget->alone_at;
	int64_t last = LOAD(*cell);

	if (LOAD(account->budget->streak) != 1 ||
	    !(account->is_met || LOAD(account->budget->allowance.answered_at) > 0) ||
	    account->policy->leased || budget_is_barred(account) ||
	    (last > 0 && last <= now && now - last < greater(account->policy->probe, 1)) ||
	    strategy_of(account->policy)->wait(account, cost, now) > 0)
		return false;
	return cell_swap(cell, last, now) &&
	       strategy_of(account->policy)->take(account, cost, now) >= 0;
}

int64_t budget_cost(const struct policy *policy, enum failure answered)
{
	return answered == FAILURE_TIMEOUT ? policy->cost_timeout : policy->cost;
}

void budget_tell_first_try(const struct account *account, int64_t now)
{
	strategy_of(account->policy)->note(account, NOTE_FIRST_TRY, 0, now);
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
	return budget_probe_wait(account, now, &last) == 0 &&
	       cell_swap(&account->budget->admitted_at, last, now);
}

enum verdict budget_admit(const struct account *account, int64_t cost, int64_t now)
{
	enum verdict verdict = ADMITTED;

	now = budget_moment(now);
	if (pay(account, cost, now)) {
		STORE(account->budget->admitted_at, now);
	} else if (pay_alone(account, cost, now)) {
		STORE(account->budget->admitted_at, now);
		verdict = ADMITTED_PROBE;
	} else {
		if (!take_probe(account, now))
			return REFUSED;
		STORE(account->budget->alone_at, now);
		verdict = ADMITTED_PROBE;
	}
	gate_used(account, now);
	allowance_tried(&account->budget->allowance, now);
	return verdict;
}

bool budget_has_rested(const struct account *account, int64_t now)
{
	const struct budget *budget = account->budget;

	return allowance_has_worked(&budget->allowance) && ramp_is_idle(&budget->ramp, now) &&
	       LOAD(budget->due_at) <= now && budget_retry_after_wait(account, now) <= 0 &&
	       !budget_is_barred(account) && !account->policy->leased;
}

/* ns without a try after which one is rare: as long as `floor` needs to earn a token, less a tenth,
 * for timers are late, and a poller's cycle of five seconds is one of 4.9 now and then. */
static int64_t rare_after(const struct account *account)
{
	int64_t floor = account->policy->bucket.floor;

	return floor > 0 ? MT_PER_TOKEN * NS_PER_S / 10 * 9 / floor : INT64_MAX;
}

/* True if nobody has asked for this destination for so long. Who follows upon another leaves the
 * word to its readers: where many processes are refused at once, each would wait for its line. */
static bool is_rare(const struct account *account, int64_t now)
{
	cell64 *wanted_at = &account->budget->wanted_at;
	int64_t rare = rare_after(account), before = LOAD(*wanted_at);

	if (before > 0 && before <= now && now - before < lesser(NS_PER_MS, rare / 16))
		return false;
	before = atomic_exchange_explicit(wanted_at, now, memory_order_relaxed);
	return before > 0 && before <= now && now - before >= rare && !account->policy->leased &&
	       !budget_is_barred(account);
}

/* Lets a retry go without a token; it uses up the gate as one that has paid does. */
static enum verdict admit_as_probe(const struct account *account, int64_t now)
{
	STORE(account->budget->admitted_at, now);
	gate_used(account, now);
	allowance_tried(&account->budget->allowance, now);
	return ADMITTED_PROBE;
}

enum verdict budget_admit_free(const struct account *account, int64_t now)
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
		return budget_probe_wait(account, now, &last) > 0
		           ? REFUSED
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
		return admit_as_probe(account, now);
	return budget_admit(account, cost, now);
}

enum verdict budget_verdict(const struct account *account, int64_t cost, int64_t now)
{
	struct budget *budget = account->budget;
	enum verdict verdict;
	bool rare, answers, heard;

	now = budget_moment(now);
	rare = is_rare(account, now);
	if (budget_retry_after_wait(account, now) > 0)
		return REFUSED;
	if (rare)
		return admit_as_probe(account, now);
	answers = LOAD(budget->streak) <= 0 || allowance_is_answering(&budget->allowance, now);
	/* Of an answer elsewhere in the fleet: the gate opens, by the ramp, and tokens are paid. */
	heard = account->policy->leased && !answers && leased_has_news(account, now);
	if (heard)
		ramp_begin(&budget->ramp, true, now);
	if (ramp_is_on(&budget->ramp, now) && !budget_is_barred(account)) {
		if (heard)
			return budget_pay_wait(account, cost, now) == 0 &&
			               ramp_take(&budget->ramp, now)
			           ? budget_admit(account, cost, now)
			           : REFUSED;
		if (answers)
			return allowance_is_usual(&budget->allowance, now) ||
			               ramp_take(&budget->ramp, now)
			           ? budget_admit_free(account, now)
			           : REFUSED;
		ramp_stop(&budget->ramp, now);
		/* A success in between saw it under way, and nobody would begin it anew. */
		if (LOAD_ORDERED(budget->streak) <= 0)
			ramp_begin(&budget->ramp, true, now);
	}
	verdict = verdict_of_gate(account, cost, answers || heard, now);
	if (verdict == REFUSED && !answers)
		ramp_throttled(&budget->ramp, now);
	return verdict;
}

bool budget_unclear(const struct account *account, enum workload workload, int64_t now)
{
	now = budget_moment(now);
	/* The start that each host has without an answer adds up over a fleet. */
	if (account->policy->leased && !allowance_has_answer(&account->budget->allowance, now))
		return false;
	return allowance_take(&account->budget->allowance, workload, now);
}

enum budget_source budget_source(const struct account *account, int64_t now)
{
	if (!account->policy->leased)
		return SOURCE_OWN;
	return leased_lives(account, budget_moment(now)) ? SOURCE_LEASE : SOURCE_RESERVE;
}

void budget_refund(const struct account *account, int64_t cost, enum budget_source source)
{
	if (source != SOURCE_RESERVE)
		strategy_of(account->policy)->refund(account, cost, true);
	bucket_deposit(account->process, account->process_rule, cost);
}
