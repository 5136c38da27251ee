/* SPDX-License-Identifier: MIT */
/*
 * Two strategies that let a retry go by chance, weighed by what happened in the last `window`.
 *
 * `throttle` refuses with the probability
 *
 *	max(0, (requests - k * accepts) / (requests + 1))
 *
 * Source: A. Patel and others, "Handling Overload", chapter 21 of Site Reliability Engineering
 * (O'Reilly, 2016; sre.google/sre-book/handling-overload), client-side throttling; k = 2 over two
 * minutes there. requests counts every outcome and every refusal, accepts the successes.
 *
 * `probabilistic` lets a retry go with the probability target / (share of failures among the
 * outcomes): at most 1, and so that retries add about `target` to the load, whatever fails. There
 * is one throw for each failure: a program that is refused and asks again gets no other, or it
 * would go in the end by asking often enough.
 *
 * What is ours: only retries are refused, never a first try. There first tries are refused too.
 *
 * Counts are exact to a slice; a count that is corrupted is a number like any other.
 */
#include "budget/slices.h"
#include "budget/strategy.h"

static void count_outcomes(const struct account *account, int64_t now, int64_t *all, int64_t *good)
{
	const struct budget *budget = account->budget;

	*all = slices_within(&budget->requests, account->policy->window, now);
	*good = slices_within(&budget->accepts, account->policy->window, now);
	if (*good > *all) /* two rings, counted one after the other */
		*all = *good;
}

/* A number from the budget's own dice, uniform in 0..limit. now stirs it: no two hosts, and no two
 * processes that start alike, throw the same. */
static int64_t throw_dice(struct budget *budget, int64_t limit, int64_t now)
{
	int64_t step = INT64_C(0x5851f42d4c957f2d); /* odd: all 2^64 states come round */
	uint64_t state =
	    (uint64_t)atomic_fetch_add_explicit(&budget->dice, step, memory_order_relaxed) ^
	    (uint64_t)now * UINT64_C(0xd1342543de82ef95);

	random_next(&state);
	return random_upto(&state, limit);
}

/* True with the probability part / whole; both are sums of counts times at most 10^6: below 2^57.
 */
static bool chance(const struct account *account, int64_t part, int64_t whole, int64_t now)
{
	if (part >= whole)
		return true;
	return part > 0 && throw_dice(account->budget, whole - 1, now) < part;
}

/* Asked again after a while, a coin may fall the other way: there is nothing to wait for. */
static int64_t no_wait(const struct account *account, int64_t cost, int64_t now)
{
	(void)account;
	(void)cost;
	(void)now;
	return 0;
}

static int64_t throttle_take(const struct account *account, int64_t cost, int64_t now)
{
	int64_t k = within(account->policy->k, 1000, 100000), all, good, excess;

	(void)cost;
	count_outcomes(account, now, &all, &good);
	excess = all * 1000 - good * k;
	/* Goes with the probability that is left of the whole. */
	if (chance(account, (all + 1) * 1000 - greater(excess, 0), (all + 1) * 1000, now))
		return 0;
	slices_add(&account->budget->requests, account->policy->window, 1, now);
	return -1;
}

static int64_t probabilistic_take(const struct account *account, int64_t cost, int64_t now)
{
	int64_t target = within(account->policy->target, 0, PPM_WHOLE), all, good;

	(void)cost;
	count_outcomes(account, now, &all, &good);
	/* One throw for each failure. The oldest slice of throws is left out: their failures, which
	 * came before, may have left the window. */
	if (all > good && slices_sum(&account->budget->spent, account->policy->window,
	                             -SLICES_AHEAD, SLICES - 2, now) >= all - good)
		return -1;
	slices_add(&account->budget->spent, account->policy->window, 1, now);
	/* target / ((all - good) / all), without a division; with no failure left all may go. */
	return chance(account, target * all, (all - good) * PPM_WHOLE, now) ? 0 : -1;
}

/* Nothing was taken; that a retry was none is counted with its outcome. */
static void nothing_back(const struct account *account, int64_t mt, bool goes)
{
	(void)account;
	(void)mt;
	(void)goes;
}

static void note_outcome(const struct account *account, enum event_kind kind, int64_t cost,
                         int64_t now)
{
	struct budget *budget = account->budget;

	(void)cost;
	if (kind == NOTE_FIRST_TRY)
		return;
	if (kind == NOTE_SUCCESS)
		slices_add(&budget->accepts, account->policy->window, 1, now);
	slices_add(&budget->requests, account->policy->window, 1, now);
}

/* The chances of the next retry, in thousandths of one. */
static int64_t throttle_level(const struct account *account, int64_t now, int64_t *limit)
{
	int64_t k = within(account->policy->k, 1000, 100000), all, good, excess;

	count_outcomes(account, now, &all, &good);
	excess = all * 1000 - good * k;
	*limit = MT_PER_TOKEN;
	return MT_PER_TOKEN - (excess > 0 ? excess / (all + 1) : 0);
}

static int64_t probabilistic_level(const struct account *account, int64_t now, int64_t *limit)
{
	int64_t target = within(account->policy->target, 0, PPM_WHOLE), all, good;

	count_outcomes(account, now, &all, &good);
	*limit = MT_PER_TOKEN;
	if (all == good)
		return MT_PER_TOKEN;
	return within(target * all / (all - good) / (PPM_WHOLE / MT_PER_TOKEN), 0, MT_PER_TOKEN);
}

const struct strategy_calls strategy_throttle = {
	no_wait, throttle_take, nothing_back, note_outcome, throttle_level,
};

const struct strategy_calls strategy_probabilistic = {
	no_wait, probabilistic_take, nothing_back, note_outcome, probabilistic_level,
};
