/* SPDX-License-Identifier: MIT */
/* The rules of `retrybudget advise`: pure, by the formulas of calc. */
#include "tool/advise_rules.h"

#include "tool/calc_formulas.h"

#define FIRST_LEAST    20   /* tries below which numbers are chance */
#define LOOP_LEAST     20   /* retries of one first try that nobody makes who gives up */
#define OUTAGE_MOST    10.0 /* s; longer ones are what a budget is to throttle */
#define RETRIES_MOST   3    /* of one request that a bucket is sized for, whatever a loop does */
#define CAPACITY_MOST  1000
#define SHARE_STEPS    20 /* earn is proposed in steps of 5 % */
#define SHARE_MOST     10 /* of them */
#define SPREAD_SECONDS 10 /* no first try is put off for longer */

bool facts_is_loop(const struct facts *facts)
{
	return facts->retries >= FIRST_LEAST && facts->retries / LOOP_LEAST >= facts->first;
}

bool facts_suffice(const struct facts *facts)
{
	return facts->first >= FIRST_LEAST || facts_is_loop(facts);
}

double facts_outage(const struct facts *facts)
{
	int64_t count = 0, passed = 0;

	for (int i = 0; i < REGION_TIMES; i++)
		count += facts->recoveries[i];
	for (int i = 0; i < REGION_TIMES && count > 0; i++) {
		passed += facts->recoveries[i];
		if (passed >= count - passed)
			return (double)(INT64_C(1) << i) / 1000;
	}
	return 0;
}

#define ROUND_MOST 1e15 /* any process may have written the numbers */

static int64_t round_up(double x)
{
	int64_t whole = (int64_t)(x < ROUND_MOST ? x : ROUND_MOST);

	return (double)whole < x && x < ROUND_MOST ? whole + 1 : whole;
}

static int retries_of_one(const struct facts *facts)
{
	double each =
	    facts->first_failed > 0 ? (double)facts->retries / (double)facts->first_failed : 1;

	if (each > RETRIES_MOST)
		return RETRIES_MOST;
	return each < 1 ? 1 : (int)round_up(each);
}

/* A short outage is what retries are for: they must not run out of tokens in it. */
static bool advise_capacity(const struct facts *facts, const struct bucket_rule *process,
                            struct advice *advice)
{
	double outage = facts_outage(facts), rate = (double)facts->first / facts->seconds;
	int retries = retries_of_one(facts);
	int64_t tokens;

	if (facts->first < FIRST_LEAST || facts->refused == 0 || outage <= 0 ||
	    outage > OUTAGE_MOST)
		return false;
	tokens = round_up(calc_tokens(rate, outage, 1, retries, NO_BUDGET));
	tokens = lesser(tokens, CAPACITY_MOST);
	if (tokens > process->capacity / MT_PER_TOKEN) /* which each retry needs as well */
		tokens = process->capacity / MT_PER_TOKEN;
	if (tokens * MT_PER_TOKEN <= advice->policy.bucket.capacity)
		return false;
	advice->policy.bucket.capacity = tokens * MT_PER_TOKEN;
	(void)snprintf(advice->line, sizeof(advice->line), "capacity = %lld", (long long)tokens);
	(void)snprintf(advice->reason, sizeof(advice->reason),
	               "half of the outages were over within %g s; at %.3g requests/s with %d %s "
	               "each that takes %lld tokens",
	               outage, rate, retries, retries == 1 ? "retry" : "retries",
	               (long long)tokens);
	return true;
}

/* Retries that are answered are worth their share of the load. */
static bool advise_earn(const struct facts *facts, struct advice *advice)
{
	double rate = (double)facts->first / facts->seconds;
	struct calc_budget budget = { 0, 0 };
	int64_t steps;

	if (facts->first < FIRST_LEAST || facts->refused == 0 || facts->retries < FIRST_LEAST ||
	    facts->retries_answered < facts->retries - facts->retries_answered)
		return false;
	steps = round_up((double)facts->retries_answered / (double)facts->first * SHARE_STEPS);
	steps = lesser(steps, SHARE_MOST);
	if (steps * MT_PER_TOKEN / SHARE_STEPS <= advice->policy.bucket.earn)
		return false;
	advice->policy.bucket.earn = steps * MT_PER_TOKEN / SHARE_STEPS;
	budget.share = (double)steps / SHARE_STEPS;
	budget.floor = (double)advice->policy.bucket.floor / MT_PER_TOKEN;
	(void)snprintf(advice->line, sizeof(advice->line), "earn = %lld%%",
	               (long long)steps * 100 / SHARE_STEPS);
	(void)snprintf(advice->reason, sizeof(advice->reason),
	               "%lld of %lld retries were answered, for %lld first tries; the load can "
	               "grow %.3g-fold at most",
	               (long long)facts->retries_answered, (long long)facts->retries,
	               (long long)facts->first, calc_bound(&budget, rate));
	return true;
}

static bool advise_spread(const struct facts *facts, struct advice *advice)
{
	int64_t at_once = advice->policy.start_burst, over;

	if (advice->policy.start_spread > 0 || at_once < 1 || facts->herd <= at_once)
		return false;
	over = (facts->herd + at_once - 1) / at_once;
	over = lesser(over, SPREAD_SECONDS);
	advice->policy.start_spread = over * NS_PER_S;
	(void)snprintf(advice->line, sizeof(advice->line), "start_spread = %llds", (long long)over);
	(void)snprintf(advice->reason, sizeof(advice->reason),
	               "%lld processes that call it began in one second%s", (long long)facts->herd,
	               facts->is_shared ? ""
	                                : "; they must share a budget for this: scope = user or "
	                                  "host in [retrybudget]");
	return true;
}

static bool advise_mode(const struct facts *facts, struct advice *advice)
{
	if (!facts->observed)
		return false;
	advice->policy.mode = MODE_ENFORCE;
	(void)snprintf(advice->line, sizeof(advice->line), "mode = enforce");
	(void)snprintf(advice->reason, sizeof(advice->reason),
	               "observed: %lld of %lld retries would have been throttled",
	               (long long)facts->refused, (long long)facts->retries);
	return true;
}

bool advise(const struct facts *facts, const struct policy *policy,
            const struct bucket_rule *process, enum advice_kind kind, struct advice *advice)
{
	*advice = (struct advice) { .kind = kind, .policy = *policy };
	if (kind == ADVICE_START_SPREAD)
		return advise_spread(facts, advice);
	if (!facts_suffice(facts) || facts->seconds <= 0)
		return false;
	switch (kind) {
	case ADVICE_MODE:
		return advise_mode(facts, advice);
	case ADVICE_CAPACITY:
		return advise_capacity(facts, process, advice);
	case ADVICE_EARN:
		return advise_earn(facts, advice);
	default:
		return false;
	}
}
