/* SPDX-License-Identifier: MIT */
/* What `retrybudget calc` prints: a sentence for each formula, then its table. */
#include "tool/calc_print.h"

#include "tool/calc_formulas.h"

#include <stdint.h>

#define CELL 32

/* As many digits behind the point as a person would write down. */
static const char *number(double value, char text[CELL])
{
	int64_t whole = value < 1e15 ? (int64_t)value : 0;
	int digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 || value <= 0 ? 2 : 4;

	if (value >= 1e15)
		snprintf(text, CELL, "%.3g", value);
	else if ((double)whole == value)
		snprintf(text, CELL, "%lld", (long long)whole);
	else
		snprintf(text, CELL, "%.*f", digits, value);
	return text;
}

static const char *percent(double share, char text[CELL])
{
	if (share < 0)
		snprintf(text, CELL, "none");
	else
		snprintf(text, CELL, "%.6g%%", share * 100);
	return text;
}

/* Row 0 of the budgets is the load without any. */
static double budget_share(const struct calc_question *question, int row)
{
	return row == 0 ? NO_BUDGET : question->budget.share[row - 1];
}

static void print_verdict(const struct calc_question *question, double load, double worst,
                          bool seen[], FILE *out)
{
	enum calc_verdict verdict;

	if (question->capacity > 0) {
		verdict = calc_judge(load, worst, question->capacity);
		seen[verdict] = true;
		fprintf(out, "  %s", calc_verdict_word(verdict));
	}
	fputc('\n', out);
}

static void explain_verdicts(const struct calc_question *question, const bool seen[], FILE *out)
{
	char a[CELL];

	if (question->capacity <= 0)
		return;
	fprintf(out, "\nAt a capacity of %s/s:\n", number(question->capacity, a));
	for (int verdict = CALC_SUSTAINABLE; verdict <= CALC_OVERLOAD; verdict++)
		if (seen[verdict])
			fprintf(out, "  %-11s  %s.\n", calc_verdict_word(verdict),
			        calc_verdict_sentence(verdict));
}

static const char *verdict_title(const struct calc_question *question)
{
	return question->capacity > 0 ? "  VERDICT" : "";
}

/* A percentage of little is next to nothing: says how often a retry may go. */
static void print_meaning(double share, double rate, FILE *out)
{
	double retries = share * rate;
	char a[CELL], b[CELL], c[CELL];

	if (retries <= 0)
		return;
	fprintf(out, "  %s of %s/s: ", percent(share, a), number(rate, b));
	if (retries >= 1)
		fprintf(out, "%s retries a second\n", number(retries, c));
	else
		fprintf(out, "one retry every %s s\n", number(1 / retries, c));
}

static void print_meanings(const struct calc_question *question, FILE *out)
{
	if (question->budget.count == 0)
		return;
	fputs("\nWhat the percentage of a budget means here:\n", out);
	for (int i = 0; i < question->budget.count; i++)
		print_meaning(question->budget.share[i], question->rate, out);
}

static void print_chain(const struct calc_question *question, FILE *out)
{
	double at[CALC_HOPS_MAX], worst[CALC_HOPS_MAX];
	int last = question->hops - 1;
	bool seen[CALC_OVERLOAD + 1] = { false };
	char a[CELL], b[CELL];

	calc_chain(question->hops, question->tries, 1, NO_BUDGET, at);
	fprintf(out,
	        "If all fails, attempts at the last server per client request = tries ^ hops:\n"
	        "  %d ^ %d = %s\n"
	        "A budget at every hop: never above (1 + budget) ^ hops.\n",
	        question->tries, question->hops, number(at[last], a));
	for (int i = 0; i < question->fail.count; i++)
		for (int row = 0; row <= question->budget.count; row++) {
			double share = budget_share(question, row), unserved;

			unserved = calc_chain(question->hops, question->tries,
			                      question->fail.share[i], share, at);
			calc_chain(question->hops, question->tries, 1, share, worst);
			fprintf(out, "\nThe last server fails %s, budget %s:\n  %4s  %14s%s\n",
			        percent(question->fail.share[i], a), percent(share, b), "HOP",
			        "ATTEMPTS", question->rate > 0 ? "          LOAD/s" : "");
			for (int hop = 0; hop <= last; hop++) {
				fprintf(out, "  %4d  %14s", hop + 1, number(at[hop], a));
				if (question->rate > 0)
					fprintf(out, "  %14s", number(at[hop] * question->rate, a));
				if (hop < last)
					fputc('\n', out);
			}
			print_verdict(question, at[last] * question->rate,
			              worst[last] * question->rate, seen, out);
			fprintf(out, "  client requests that fail all the same: %s\n",
			        percent(unserved, a));
		}
	fprintf(out, "\nRetries at one hop only: at most %d attempts.\n", question->tries);
	explain_verdicts(question, seen, out);
}

static void print_load_example(const struct calc_question *question, FILE *out)
{
	double fail = question->fail.share[question->fail.count - 1];
	char a[CELL], b[CELL], c[CELL];

	fprintf(out,
	        "load = rate x (1 + failure rate x retries), where what fails fails each time:\n"
	        "  %s/s x (1 + %s x %d) = %s/s\n",
	        number(question->rate, a), percent(fail, b), question->retries,
	        number(question->rate * calc_tries_stuck(fail, question->retries), c));
	fputs("EACH BY ITSELF: each try may fail anew, rate x (1 + f + f^2 + ...).\n", out);
	if (question->budget.count > 0) {
		struct calc_budget budget = { question->budget.share[0], question->floor };

		fprintf(out,
		        "A budget: never above rate x (1 + budget) + floor:\n"
		        "  %s/s x (1 + %s) + %s/s = ",
		        number(question->rate, a), percent(budget.share, b),
		        number(question->floor, c));
		fprintf(out, "%s/s\n",
		        number(question->rate * calc_bound(&budget, question->rate), a));
	}
}

static void print_load(const struct calc_question *question, FILE *out)
{
	bool seen[CALC_OVERLOAD + 1] = { false };

	print_load_example(question, out);
	fprintf(out, "\n  %8s  %8s  %14s  %14s  %7s%s\n", "FAIL", "BUDGET", "EACH BY ITSELF",
	        "LOAD/s", "TIMES", verdict_title(question));
	for (int i = 0; i < question->fail.count; i++)
		for (int row = 0; row <= question->budget.count; row++) {
			struct calc_budget budget = { budget_share(question, row),
				                      question->floor };
			double fail = question->fail.share[i], rate = question->rate;
			double itself = calc_tries_independent(fail, question->retries);
			double times = calc_attempts(fail, question->retries, &budget, rate);
			double worst = calc_attempts(1, question->retries, &budget, rate);
			char a[CELL], b[CELL], c[CELL], d[CELL];

			if (itself > times)
				itself = times; /* the budget's bound */
			fprintf(out, "  %8s  %8s  %14s  %14s  %6.2fx", percent(fail, a),
			        percent(budget.share, b), number(rate * itself, c),
			        number(rate * times, d), times);
			print_verdict(question, rate * times, rate * worst, seen, out);
		}
	print_meanings(question, out);
	explain_verdicts(question, seen, out);
}

static void print_size_row(const struct calc_question *question, double fail, double share,
                           bool seen[], FILE *out)
{
	struct calc_budget budget = { .share = share };
	double rate = question->rate;
	double tokens = calc_tokens(rate, question->outage, fail, question->retries, share);
	double asked = rate * fail * question->retries;
	double load = rate * calc_attempts(fail, question->retries, &budget, rate);
	double worst = rate * calc_attempts(1, question->retries, &budget, rate);
	char a[CELL], b[CELL], c[CELL], d[CELL], e[CELL], f[CELL];

	fprintf(out, "  %8s  %8s  %12s  %12s  %12s  %14s", percent(fail, a), percent(share, b),
	        number(tokens, c), number(load, d), asked > 0 ? number(tokens / asked, e) : "-",
	        share > 0 ? number(tokens / (rate * share), f) : "-");
	print_verdict(question, load, worst, seen, out);
}

static void print_size(const struct calc_question *question, FILE *out)
{
	bool seen[CALC_OVERLOAD + 1] = { false };
	double fail = question->fail.share[question->fail.count - 1];
	char a[CELL], b[CELL], c[CELL], d[CELL];

	fprintf(out,
	        "tokens for every retry of an outage = rate x time x failure rate x retries:\n"
	        "  %s/s x %s s x %s x %d = ",
	        number(question->rate, a), number(question->outage, b), percent(fail, c),
	        question->retries);
	fprintf(out, "%s\n",
	        number(calc_tokens(question->rate, question->outage, fail, question->retries,
	                           NO_BUDGET),
	               d));
	fputs("A budget needs no more than rate x time x budget: a bucket of that\n"
	      "capacity keeps the load, over the whole outage, within rate x (1 + budget).\n",
	      out);
	fprintf(out, "\n  %8s  %8s  %12s  %12s  %12s  %14s%s\n", "FAIL", "BUDGET", "TOKENS",
	        "LOAD/s", "ALL FOR s", "EARNED IN s", verdict_title(question));
	for (int i = 0; i < question->fail.count; i++)
		for (int row = 0; row <= question->budget.count; row++)
			print_size_row(question, question->fail.share[i],
			               budget_share(question, row), seen, out);
	fputs("\nALL FOR: so long the tokens last if every retry takes one. EARNED IN: so long a\n"
	      "healthy server's answers earn them again, the budget's share each.\n",
	      out);
	print_meanings(question, out);
	explain_verdicts(question, seen, out);
}

void calc_print(enum calc_formula formula, const struct calc_question *question, FILE *out)
{
	static void (*const printers[])(const struct calc_question *, FILE *) = {
		[CALC_CHAIN] = print_chain,
		[CALC_LOAD] = print_load,
		[CALC_SIZE] = print_size,
	};

	printers[formula](question, out);
}
