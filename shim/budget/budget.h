/* SPDX-License-Identifier: MIT */
/*
 * The budget of one destination composed with the process-wide one: what a failure, a success and
 * an admission do to both. Pure arithmetic on shared atomics: the shim, the simulator and the unit
 * tests call the very same functions. Thread-safe and async-signal-safe.
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

/* The state of one destination, in shared memory. All-zero is a valid, new budget. */
struct budget {
	struct bucket bucket;
	cell64 streak;       /* failures in a row since the last success: the first, then retries */
	cell64 began_at;     /* ns, the first of them */
	cell64 failed_at;    /* ns, the last failure */
	cell64 admitted_at;  /* ns, the last attempt that was let through, 0 = never */
	cell64 wanted_at;    /* ns, the last that was asked for, let through or not, 0 = never */
	cell64 due_at;       /* ns, the gate: no repeat before; 0 = at once */
	cell64 drawn_at;     /* ns, when it was drawn, 0 = never */
	cell64 last_delay;   /* ns, the delay that due_at was drawn with */
	cell64 delay_before; /* ns, the one before: decorrelated jitter draws from it */
	cell64 not_before;   /* ns, what a server asked for with Retry-After; 0 = nothing */
	cell64 asked;        /* ns, how long that was, from the reply on */
	cell64 barred;       /* the last failure is one of those that `sample` does not retry */
	cell64 paid;         /* mt, what the retry that is under way has cost, 0 = none is */
	cell64 dice;         /* state of the generator that strategies draw from */
	/* What strategies count over their window; what each is used for is the strategy's. */
	struct slices requests, accepts, spent;
	struct breaker breaker;
	struct allowance allowance; /* for what may be new or a repeat */
	struct bucket rate;         /* of all attempts, where the policy has a rate */
	struct ramp ramp;           /* the way back of those who were throttled */
	cell64 crowd;               /* who was refused, where many processes share it */
	struct lease lease;         /* of the fleet's budget, where the policy draws on that */
};

/* Everything one verdict draws on. */
struct account {
	struct budget *budget;
	const struct policy *policy;
	struct bucket *process;
	const struct bucket_rule *process_rule;
	int64_t slept;     /* ns that CLOCK_BOOTTIME is ahead of the clock of `now`: for leases */
	int64_t answers;   /* ns, of the failure that the attempt at hand answers; 0 = not known */
	bool may_be_other; /* than what a server put off (Retry-After): it does not wait for that */
};

enum verdict {
	ADMITTED,       /* paid for */
	ADMITTED_FREE,  /* unclear, and within what the destination answers; or on the ramp */
	ADMITTED_PROBE, /* without a token: nothing went for `probe`, nobody asked for as long as
	                 * `floor` needs to earn one, or it is the first after the gate while a
	                 * success stands in the window, or of a crowd; or by a probe of the
	                 * fleet's */
	REFUSED,
};

/* Moments start at 1: 0 stands for "never" in the cells. */
static inline int64_t budget_moment(int64_t now)
{
	return now < 1 ? 1 : now;
}

/* What is left of the destination's own budget, and in *limit how much there can be: mt, for
 * records. */
int64_t budget_level(const struct account *account, int64_t now, int64_t *limit);

/* Cost in mt of a retry that answers a failure of this class. */
int64_t budget_cost(const struct policy *policy, enum failure answered);

/* True if nothing has failed lately, and nobody is on his way back from an outage: what comes now
 * has nothing to do with a failure. */
static inline bool budget_is_quiet(const struct account *account, int64_t now)
{
	const struct budget *budget = account->budget;
	int64_t failed_at = LOAD(budget->failed_at);

	if (failed_at == 0 || failed_at < now - account->policy->horizon)
		return true;
	/* In a long outage the last failure, of a probe, is old when its end comes. */
	return failed_at < now - BUDGET_QUIET && LOAD(budget->streak) <= 0 &&
	       !ramp_is_on(&budget->ramp, now);
}

/* The slow half of the next, of strategies that first tries tell something: of the bucket only one
 * that gives back what a retry has cost, and takes the next attempt for its end. */
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

/* ns until strategy and process-wide bucket can pay cost or the probe falls due, whichever is
 * sooner; 0 = now. */
int64_t budget_token_wait(const struct account *account, int64_t cost, int64_t now);

/* ns until the moment that the server asked for: not even the probe goes before. It has asked for a
 * time, and each repeat waits that long from the failure that it answers (account->answers): others
 * that are told to wait later hold up nobody who has waited. 0: it has asked for none, or it is
 * over. A moment further off than the policy's cap is moved up to it. */
int64_t budget_asked_wait(const struct account *account, int64_t now);

/* True if neither tokens nor time make a retry go, but the probe alone: `sample` leaves the last
 * failure without one, or `max_attempts` have failed in a row. */
bool budget_is_barred(const struct account *account);

/* True if the server has said when to come again, and the attempt at hand comes no sooner. */
bool budget_is_invited(const struct account *account, int64_t now);

/* ns until a repeat may go (0 = now): the gate and tokens, cut by probe, but not before the moment
 * that the server asked for. */
int64_t budget_due(const struct account *account, int64_t cost, int64_t now);

/* Takes cost from the destination's budget, as its strategy says, and then from the process-wide
 * one, all-or-nothing; failing that lets one caller through per `probe`, the destination's, which
 * overrides both buckets. The gate is not asked.
 *
 * An admission uses up the gate: while the streak lasts, due_at moves to half a ceiling (the mean
 * of full jitter) from now, or many callers would all go at one moment. The outcome then says
 * better: a failure draws anew, a success clears it. */
enum verdict budget_admit(const struct account *account, int64_t cost, int64_t now);

/* Notes that a retry goes which needs no token. Returns ADMITTED_FREE. */
enum verdict budget_let(const struct account *account, int64_t now);

/* May a repeat go now? The server's own moment (Retry-After) first, then the gate, then the tokens.
 * The gate stands open while the destination answers; the first repeat after a gate needs no token
 * while a success stands in the window, or a crowd waits for it; and who comes so rarely that time
 * alone earns a token in between is let through whatever the gate and the buckets say. On the way
 * back from an outage the ramp says it, alone: nobody owes a token for what failed in it. Never a
 * lock-out: `probe` opens the gate, too. */
enum verdict budget_verdict(const struct account *account, int64_t cost, int64_t now);

/* True if one more attempt, of whatever kind, is within the policy's rate, and takes its place. */
bool budget_keeps_rate(const struct account *account, int64_t now);

/* ns until one is. */
int64_t budget_rate_wait(const struct account *account, int64_t now);

/* What a retry draws on now. */
enum budget_source {
	SOURCE_OWN,     /* the policy's strategy */
	SOURCE_LEASE,   /* the fleet's, by a lease that lives */
	SOURCE_RESERVE, /* the fleet's, without one */
	SOURCES,
};

enum budget_source budget_source(const struct account *account, int64_t now);

/* Whose tokens ran out. */
enum {
	EXHAUSTED_OWN = 1, /* the destination's, as its strategy counts them */
	EXHAUSTED_PROCESS = 2,
};

/* Which of them could not pay now: a set of the above, 0 = none. */
int budget_is_exhausted(const struct account *account, int64_t cost, int64_t now);

/* True if those of a set are all there again. */
bool budget_is_refilled(const struct account *account, int exhausted, int64_t now);

/* May an attempt go of which nobody can say whether it is new work or a repeat? It needs no token.
 * mixed: as allowance_take() has it.
 * False: it counts as a repeat. */
bool budget_unclear(const struct account *account, bool mixed, int64_t now);

/* Gives back what an admission took: the attempt was no retry. */
void budget_refund(const struct account *account, int64_t cost);

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
	return atomic_load_explicit(&account->budget->streak, memory_order_relaxed) != 0 ||
	       atomic_load_explicit(&account->budget->allowance.watching, memory_order_relaxed) !=
	           0 ||
	       budget_counts_success(account) ||
	       breaker_counts_success(&account->budget->breaker, &account->policy->breaker) ||
	       !bucket_full(account->process, account->process_rule);
}

#endif
