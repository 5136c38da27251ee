/* SPDX-License-Identifier: MIT */
/*
 * The budget of one destination composed with the process-wide one: what an admission does to
 * both (an outcome: streak.h). Pure arithmetic on shared atomics: the shim, the simulator and the
 * unit tests call the very same functions. Thread-safe and async-signal-safe.
 */
#ifndef RETRYBUDGET_BUDGET_BUDGET_H
#define RETRYBUDGET_BUDGET_BUDGET_H

#include "budget/allowance.h"
#include "budget/backoff.h"
#include "budget/breaker.h"
#include "budget/bucket.h"
#include "budget/crowd.h"
#include "budget/lease_cell.h"
#include "budget/ramp.h"
#include "budget/slices.h"

/* ns after a failure, while all is well again, from which on it is forgotten. */
#define BUDGET_QUIET (10 * NS_PER_S)

/* The state of one destination, in shared memory. All-zero is a valid, new budget. What is written
 * by repeats that are refused stands first, in one line of a cache. */
struct budget {
	struct bucket bucket;
	cell64 streak;       /* failures in a row since the last success: the first, then retries */
	cell64 began_at;     /* ns, the first of them */
	cell64 failed_at;    /* ns, the last failure */
	cell64 admitted_at;  /* ns, the last attempt that was let through, 0 = never */
	cell64 wanted_at;    /* ns, to 1 ms, the last that was asked for, gone or not, 0 = never */
	cell64 crowd;        /* who was refused, where many processes share it */
	cell64 alone_at;     /* ns, the last that the process could not pay for, 0 = never */
	cell64 due_at;       /* ns, the gate: no repeat before; 0 = at once */
	cell64 drawn_at;     /* ns, when it was drawn, 0 = never */
	cell64 last_delay;   /* ns, the delay that due_at was drawn with */
	cell64 delay_before; /* ns, the one before: decorrelated jitter draws from it */
	cell64 not_before;   /* ns, what a server asked for with Retry-After; 0 = nothing */
	cell64 retry_after;  /* ns, how long that was, from the reply on; 0 = nothing */
	cell64 barred;       /* the last failure is one of those that `sample` does not retry */
	cell64 paid;         /* mt, what the retry that is under way has cost, 0 = none is */
	cell64 dice;         /* state of the generator that strategies draw from */
	/* What strategies count over their window; what each is used for is the strategy's. */
	struct slices requests, accepts, spent;
	struct breaker breaker;
	struct allowance allowance; /* for what may be new or a repeat */
	struct bucket rate;         /* of all attempts, where the policy has a rate */
	struct ramp ramp;           /* the way back of those who were throttled */
	struct lease lease;         /* of the fleet's budget, where the policy draws on that */
};

/* Everything one verdict draws on. */
struct account {
	struct budget *budget;
	const struct policy *policy;
	struct bucket *process;
	const struct bucket_rule *process_rule;
	int64_t slept;      /* ns that CLOCK_BOOTTIME is ahead of the clock of `now`: for leases */
	int64_t claimed_at; /* ns, of the failure that the attempt at hand answers; 0 = not known */
	bool is_met;        /* the last failure came of a peer that had taken the connection */
	bool may_be_other; /* than what a server put off (Retry-After): it does not wait for that */
};

enum verdict {
	ADMITTED,       /* paid for */
	ADMITTED_FREE,  /* needs no token: unclear and within the allowance, or on the ramp */
	ADMITTED_PROBE, /* although it has no token: nothing went for `probe`; or it is the first
	                 * of its streak and the process alone has none; or nobody asked for
	                 * as long as `floor` needs to earn one; or it is the first after the gate
	                 * while a success stands in the window, or while a crowd waits; or by a
	                 * probe of the fleet's */
	REFUSED,
};

/* Moments start at 1: 0 stands for "never" in the cells. */
static inline int64_t budget_moment(int64_t now)
{
	return greater(now, 1);
}

/* True if nothing has failed there since it answered last, and its breaker is closed. */
static inline bool budget_is_back(const struct budget *budget)
{
	return LOAD(budget->streak) == 0 && breaker_is_closed(&budget->breaker);
}

/* Cost in mt of a retry that answers a failure of this class. */
int64_t budget_cost(const struct policy *policy, enum failure answered);

/* True if what failed last says little: it has answered, failed a few times at most since, and
 * nobody was refused for it, or waits. */
bool budget_has_rested(const struct account *account, int64_t now);

/* True if nothing has failed lately, nor was refused, and nobody is on his way back from an outage:
 * what comes now has nothing to do with a failure. */
static inline bool budget_is_quiet(const struct account *account, int64_t now)
{
	const struct budget *budget = account->budget;
	int64_t failed_at = LOAD(budget->failed_at);

	if (failed_at == 0 || failed_at < now - account->policy->horizon)
		return true;
	/* In a long outage the last failure, of a probe, is old when its end comes. But of a burst
	 * that was answered some may fail last, as what times out does, and say nothing of the next
	 * burst. */
	return failed_at < now - BUDGET_QUIET && !ramp_is_on(&budget->ramp, now) &&
	       (LOAD(budget->streak) <= 0 || budget_has_rested(account, now));
}

/* The slow half of budget_first_try(): tells the strategy. The bucket need hear of first tries only
 * with the key `refund`, where the next attempt ends the retry that is under way. */
void budget_tell_first_try(const struct account *account, int64_t now);

/* Notes that an attempt which needs no token goes now (a first try, an excused one). */
static inline void budget_first_try(const struct account *account, int64_t now)
{
	struct budget *budget = account->budget;

	now = budget_moment(now);
	STORE(budget->admitted_at, now);
	STORE(budget->wanted_at, now);
	allowance_tried(&budget->allowance, now);
	if (!account->policy->plain &&
	    (account->policy->strategy != STRATEGY_BUCKET || account->policy->refund))
		budget_tell_first_try(account, now);
}

/* Takes cost from the destination's budget, as its strategy says, and then from the process-wide
 * one, all-or-nothing; failing that lets one caller through per `probe`, the destination's: the
 * first repeat of a streak, which the destination alone pays for, or whoever comes when nothing
 * went for so long, whatever both say. The gate is not asked.
 *
 * An admission uses up the gate: while the streak lasts, due_at moves to half a ceiling (the mean
 * of full jitter) from now, or many callers would all go at one moment. The outcome then says
 * better: a failure draws anew, a success clears it. */
enum verdict budget_admit(const struct account *account, int64_t cost, int64_t now);

/* Lets a retry go that needs no token, and counts it. Returns ADMITTED_FREE, always. */
enum verdict budget_admit_free(const struct account *account, int64_t now);

/* May a repeat go now? The server's own moment (Retry-After) first, then the gate, then the tokens.
 * The gate stands open while the destination answers; the first repeat after a gate needs no token
 * while a success stands in the window, or a crowd waits for it; and who comes so rarely that time
 * alone earns a token in between is let through whatever the gate and the buckets say. On the way
 * back from an outage the ramp says it, alone: nobody owes a token for what failed in it. Never a
 * lock-out: `probe` opens the gate, too. */
enum verdict budget_verdict(const struct account *account, int64_t cost, int64_t now);

/* What a retry draws on now. */
enum budget_source {
	SOURCE_OWN,     /* the policy's strategy */
	SOURCE_LEASE,   /* the fleet's, by a lease that lives */
	SOURCE_RESERVE, /* the fleet's, without one */
	SOURCES,
};

enum budget_source budget_source(const struct account *account, int64_t now);

/* May an attempt go of which nobody can say whether it is new work or a repeat? It needs no token.
 * False: it counts as a repeat. */
bool budget_unclear(const struct account *account, enum workload workload, int64_t now);

/* Gives back what an admission took: the attempt was no retry. source: as budget_source() said when
 * it was admitted. What a reserve has paid stays paid, for that is no token that could be kept. */
void budget_refund(const struct account *account, int64_t cost, enum budget_source source);

/* True if the destination's own budget counts, or earns by, one more success. */
static inline bool budget_counts_success(const struct account *account)
{
	const struct policy *policy = account->policy;

	switch (policy->strategy) {
	case STRATEGY_CONCURRENCY:
		return false;
	case STRATEGY_WINDOW:
		return policy->ratio_of == RATIO_OF_SUCCESSES && !policy->leased;
	case STRATEGY_ADAPTIVE:
	case STRATEGY_THROTTLE:
	case STRATEGY_PROBABILISTIC:
		return !policy->leased;
	default:
		return !bucket_full(&account->budget->bucket, &policy->bucket) && !policy->leased;
	}
}

/* True if budget_success() would change something. Reads only: the data path asks this first. */
static inline bool budget_wants_success(const struct account *account)
{
	return LOAD(account->budget->streak) != 0 ||
	       LOAD(account->budget->allowance.watching) != 0 || budget_counts_success(account) ||
	       breaker_counts_success(&account->budget->breaker, &account->policy->breaker) ||
	       !bucket_full(account->process, account->process_rule);
}

#endif
