/* SPDX-License-Identifier: MIT */
/* The formulas of retrybudget calc, against values worked by hand. */
#include <criterion/criterion.h>

#include "tool/calc_formulas.c"

#define NEAR 1e-9

static void expect(double is, double wanted)
{
	double off = is - wanted;

	cr_expect(off < NEAR && off > -NEAR, "%.12g, not %.12g", is, wanted);
}

Test(calc_formulas, retries_multiply_a_load)
{
	expect(calc_tries_independent(0, 3), 1);
	expect(calc_tries_independent(0.2, 3), 1.248); /* 1 + 0.2 + 0.04 + 0.008 */
	expect(calc_tries_independent(0.5, 2), 1.75);
	expect(calc_tries_independent(1, 3), 4);
	expect(calc_tries_independent(0.5, 0), 1);
	expect(calc_tries_stuck(0.01, 3), 1.03);
	expect(calc_tries_stuck(0.1, 3), 1.3);
	expect(calc_tries_stuck(1, 3), 4);
}

Test(calc_formulas, what_stays_failing_asks_for_the_most)
{
	for (int retries = 0; retries < 10; retries++)
		for (double fail = 0; fail <= 1; fail += 0.125)
			cr_expect_leq(calc_tries_independent(fail, retries),
			              calc_tries_stuck(fail, retries) + NEAR);
}

Test(calc_formulas, a_budget_bounds)
{
	struct calc_budget tenth = { .share = 0.1 }, none = { .share = NO_BUDGET };
	struct calc_budget reserve = { .share = 0.2, .floor = 10 };

	expect(calc_bound(&tenth, 10000), 1.1);
	expect(calc_bound(&reserve, 1), 11.2); /* 1 + 0.2 + 10: little traffic, a large reserve */
	expect(calc_bound(&reserve, 1000), 1.21);
	expect(calc_attempts(1, 3, &tenth, 10000), 1.1);
	expect(calc_attempts(0.01, 3, &tenth, 10000), 1.03); /* less is asked for */
	expect(calc_attempts(1, 3, &none, 10000), 4);
}

Test(calc_formulas, hops_multiply_tries)
{
	static const double dead[] = { 3, 9, 27, 81, 243 };
	double at[CALC_HOPS_MAX];

	expect(calc_chain(5, 3, 1, NO_BUDGET, at), 1);
	for (int hop = 0; hop < 5; hop++)
		expect(at[hop], dead[hop]);
	/* The server fails half: its caller makes 1 + 1/2 tries, and fails a quarter; that one's
	 * caller makes 1 + 1/4. */
	expect(calc_chain(2, 2, 0.5, NO_BUDGET, at), 0.0625);
	expect(at[0], 1.25);
	expect(at[1], 1.875);
	calc_chain(3, 3, 1, 0.1, at);
	expect(at[2], 1.331);
	/* What a budget refuses at one hop fails for the hop before it: 1 - 1.1 x 0.8 = 12 %. */
	expect(calc_chain(2, 3, 0.2, 0.1, at), 0.032);
	expect(at[0], 1.1);
	expect(at[1], 1.21);
	calc_chain(1, 1, 1, NO_BUDGET, at);
	expect(at[0], 1);
}

Test(calc_formulas, an_outage_takes_tokens)
{
	expect(calc_tokens(500, 30, 1, 1, NO_BUDGET), 15000);
	expect(calc_tokens(500, 30, 1, 1, 0.1), 1500);
	expect(calc_tokens(10000, 30, 1, 3, NO_BUDGET), 900000);
	expect(calc_tokens(500, 30, 0.01, 1, 0.1), 150);
}

Test(calc_formulas, verdicts)
{
	cr_expect_eq(calc_judge(10300, 40000, 12000), CALC_FRAGILE);
	cr_expect_eq(calc_judge(11000, 11000, 12000), CALC_SUSTAINABLE);
	cr_expect_eq(calc_judge(12000, 12000, 12000), CALC_SUSTAINABLE, "as much as it can");
	cr_expect_eq(calc_judge(13000, 40000, 12000), CALC_OVERLOAD);
}
