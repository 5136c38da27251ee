/* SPDX-License-Identifier: MIT */
/* retrybudget calc: the values that it takes, its remedies, and what it prints. */
#include <criterion/criterion.h>

#include "tool/calc_print.c"
#include "tool/calc_values.c"

static char told[512], printed[8192];
static struct calc_question question;
static calc_given given;

static void forget(void)
{
	told[0] = printed[0] = '\0';
	question = (struct calc_question) { .hops = 0 };
	given = 0;
}

TestSuite(calc, .init = forget);

static bool set(enum calc_formula formula, const char *option, const char *text)
{
	FILE *err = fmemopen(told, sizeof(told), "w");
	bool good = calc_set(formula, option, text, &question, &given, err);

	fclose(err);
	return good;
}

static bool complete(enum calc_formula formula)
{
	FILE *err = fmemopen(told, sizeof(told), "w");
	bool good = calc_complete(formula, &question, given, err);

	fclose(err);
	return good;
}

static void print(enum calc_formula formula)
{
	FILE *out = fmemopen(printed, sizeof(printed), "w");

	cr_assert(complete(formula), "%s", told);
	calc_print(formula, &question, out);
	fclose(out);
}

#define EXPECT_IN(text, part) cr_expect(strstr(text, part), "no '%s' in:\n%s", part, text)

Test(calc, formulas_have_names)
{
	for (int formula = 0; formula < CALC_FORMULAS; formula++)
		cr_expect_eq((int)calc_formula_named(calc_formula_name(formula)), formula);
	cr_expect_eq(calc_formula_named("loads"), CALC_FORMULAS);
}

Test(calc, values)
{
	cr_expect(set(CALC_LOAD, "rate", "30/m"));
	cr_expect_float_eq(question.rate, 0.5, 1e-9);
	cr_expect(set(CALC_LOAD, "rate", "1.5/s"));
	cr_expect_float_eq(question.rate, 1.5, 1e-9);
	cr_expect(set(CALC_SIZE, "outage", "200ms"));
	cr_expect_float_eq(question.outage, 0.2, 1e-9);
	cr_expect(set(CALC_SIZE, "outage", "5m"));
	cr_expect_float_eq(question.outage, 300, 1e-9);
	cr_expect(set(CALC_LOAD, "retries", "0"));
	cr_expect_eq(question.retries, 0);
	cr_expect(set(CALC_LOAD, "fail", "0%,0.5%,100%"));
	cr_expect_eq(question.fail.count, 3);
	cr_expect_float_eq(question.fail.share[1], 0.005, 1e-9);
}

Test(calc, what_is_no_value_is_told_with_the_remedy)
{
	static const struct {
		const char *option, *text;
	} wrong[] = {
		{ "rate", "500" },
		{ "rate", "0/s" },
		{ "rate", "-1/s" },
		{ "rate", "5/d" },
		{ "retries", "101" },
		{ "retries", "1.5" },
		{ "retries", "" },
		{ "fail", "0.1" },
		{ "fail", "101%" },
		{ "fail", "1%," },
		{ "fail", ",1%" },
		{ "fail", "1% 2%" },
		{ "fail", "1%2%" },
		{ "budget", "" },
		{ "fail", "1%,1%,1%,1%,1%,1%,1%,1%,1%" },
		{ "capacity", "nan/s" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		char option[32], remedy[40];

		cr_expect(!set(CALC_LOAD, wrong[i].option, wrong[i].text), "--%s '%s'",
		          wrong[i].option, wrong[i].text);
		snprintf(option, sizeof(option), "calc load: --%s '", wrong[i].option);
		EXPECT_IN(told, option);
		snprintf(remedy, sizeof(remedy), ", as in --%s ", wrong[i].option);
		EXPECT_IN(told, remedy);
	}
	cr_expect_eq(given, 0U);
}

Test(calc, every_example_of_a_remedy_is_good)
{
	for (size_t i = 0; i < ROWS; i++)
		for (int formula = 0; formula < CALC_FORMULAS; formula++)
			cr_expect_eq(set(formula, rows[i].name, rows[i].example),
			             (rows[i].understood & 1U << formula) != 0, "%s", told);
}

Test(calc, an_option_of_another_formula)
{
	cr_expect(!set(CALC_CHAIN, "outage", "3s"));
	EXPECT_IN(told, "--outage has no meaning here; leave it out (calc chain has: --hops,");
}

Test(calc, what_is_missing_is_told)
{
	cr_expect(set(CALC_SIZE, "rate", "5/s"));
	cr_expect(!complete(CALC_SIZE));
	EXPECT_IN(told, "--outage is missing; add it, as in --outage 30s");
	forget();
	cr_expect(set(CALC_CHAIN, "hops", "5") && set(CALC_CHAIN, "tries", "3") &&
	          set(CALC_CHAIN, "capacity", "5/s"));
	cr_expect(!complete(CALC_CHAIN));
	EXPECT_IN(told, "add --rate");
	forget();
	cr_expect(set(CALC_LOAD, "rate", "5/s") && set(CALC_LOAD, "retries", "3") &&
	          set(CALC_LOAD, "floor", "5/s"));
	cr_expect(!complete(CALC_LOAD));
	EXPECT_IN(told, "add --budget");
}

Test(calc, chain)
{
	cr_expect(set(CALC_CHAIN, "hops", "5") && set(CALC_CHAIN, "tries", "3"));
	print(CALC_CHAIN);
	EXPECT_IN(printed, "  3 ^ 5 = 243\n");
	EXPECT_IN(printed, "     4              81\n     5             243\n");
	EXPECT_IN(printed, "fail all the same: 100%\n");
	cr_expect_null(strstr(printed, "capacity"));
}

Test(calc, load)
{
	cr_expect(set(CALC_LOAD, "rate", "10000/s") && set(CALC_LOAD, "retries", "3") &&
	          set(CALC_LOAD, "fail", "1%,100%") && set(CALC_LOAD, "budget", "10%") &&
	          set(CALC_LOAD, "capacity", "12000/s"));
	print(CALC_LOAD);
	EXPECT_IN(printed, "10000/s x (1 + 100% x 3) = 40000/s\n");
	EXPECT_IN(printed, "10000/s x (1 + 10%) + 0/s = 11000/s\n");
	EXPECT_IN(printed, "10300    1.03x  fragile\n");
	EXPECT_IN(printed, "10300    1.03x  sustainable\n");
	EXPECT_IN(printed, "40000    4.00x  overload\n");
	EXPECT_IN(printed, "11000    1.10x  sustainable\n");
	EXPECT_IN(printed, "10% of 10000/s: 1000 retries a second\n");
}

Test(calc, a_percentage_of_little)
{
	cr_expect(set(CALC_LOAD, "rate", "1/s") && set(CALC_LOAD, "retries", "20") &&
	          set(CALC_LOAD, "budget", "20%") && set(CALC_LOAD, "floor", "10/s"));
	print(CALC_LOAD);
	EXPECT_IN(printed, "1/s x (1 + 20%) + 10/s = 11.2/s\n");
	EXPECT_IN(printed, "20% of 1/s: one retry every 5 s\n");
}

Test(calc, size)
{
	cr_expect(set(CALC_SIZE, "rate", "500/s") && set(CALC_SIZE, "outage", "30s") &&
	          set(CALC_SIZE, "budget", "10%,0%"));
	print(CALC_SIZE);
	EXPECT_IN(printed, "500/s x 30 s x 100% x 1 = 15000\n");
	EXPECT_IN(printed, "10%          1500           550             3              30\n");
	EXPECT_IN(printed, "0%             0           500             0               -\n");
}
