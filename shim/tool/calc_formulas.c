/* SPDX-License-Identifier: MIT */
/* The formulas of `retrybudget calc`. */
#include "tool/calc_formulas.h"

static double least(double a, double b)
{
	return a < b ? a : b;
}

double calc_tries_independent(double fail, int retries)
{
	double sum = 1, reach = 1;

	for (int i = 0; i < retries; i++)
		sum += reach *= fail;
	return sum;
}

double calc_tries_stuck(double fail, int retries)
{
	return 1 + fail * retries;
}

double calc_bound(const struct calc_budget *budget, double rate)
{
	return 1 + budget->share + budget->floor / rate;
}

double calc_attempts(double fail, int retries, const struct calc_budget *budget, double rate)
{
	double wanted = calc_tries_stuck(fail, retries);

	return budget->share < 0 ? wanted : least(wanted, calc_bound(budget, rate));
}

double calc_chain(int hops, int tries, double fail, double budget, double at[])
{
	double before = 1;

	for (int hop = hops - 1; hop >= 0; hop--) {
		double times = calc_tries_independent(fail, tries - 1);

		at[hop] = budget < 0 ? times : least(times, 1 + budget);
		fail = 1 - at[hop] * (1 - fail); /* what this hop tells its caller */
		if (fail < 0)
			fail = 0; /* rounding */
	}
	for (int hop = 0; hop < hops; hop++)
		at[hop] = before *= at[hop];
	return fail;
}

double calc_tokens(double rate, double seconds, double fail, int retries, double budget)
{
	double share = fail * retries;

	return rate * seconds * (budget < 0 ? share : least(share, budget));
}

enum calc_verdict calc_judge(double load, double worst, double capacity)
{
	if (load > capacity)
		return CALC_OVERLOAD;
	return worst > capacity ? CALC_FRAGILE : CALC_SUSTAINABLE;
}

const char *calc_verdict_word(enum calc_verdict verdict)
{
	static const char *const words[] = {
		[CALC_SUSTAINABLE] = "sustainable",
		[CALC_FRAGILE] = "fragile",
		[CALC_OVERLOAD] = "overload",
	};

	return words[verdict];
}

const char *calc_verdict_sentence(enum calc_verdict verdict)
{
	static const char *const sentences[] = {
		[CALC_SUSTAINABLE] = "within the capacity, and would be if every request failed",
		[CALC_FRAGILE] = "within the capacity, but not if every request failed: after an "
				 "outage it may stay overloaded",
		[CALC_OVERLOAD] = "not sustainable: above the capacity",
	};

	return sentences[verdict];
}
