/* SPDX-License-Identifier: MIT */
/* The arguments of `retrybudget calc`: their names, units and bounds. */
#include "tool/calc_values.h"

#include "config/value_numbers.h"

#include <stddef.h>
#include <string.h>

#define MILLION 1000000

enum kind {
	COUNT,
	RATE,
	TIME,
	SHARES,
};

#define CHAIN_BIT (1U << CALC_CHAIN)
#define LOAD_BIT  (1U << CALC_LOAD)
#define SIZE_BIT  (1U << CALC_SIZE)

static const struct row {
	const char *name;
	enum kind kind;
	size_t at;
	int least, most;             /* of a count */
	unsigned needed, understood; /* by which formulas */
	const char *example;
} rows[] = {
#define AT(field) offsetof(struct calc_question, field)
	{ "hops", COUNT, AT(hops), 1, 20, CHAIN_BIT, CHAIN_BIT, "5" },
	{ "tries", COUNT, AT(tries), 1, 100, CHAIN_BIT, CHAIN_BIT, "3" },
	{ "retries", COUNT, AT(retries), 0, 100, LOAD_BIT, LOAD_BIT | SIZE_BIT, "3" },
	{ "rate", RATE, AT(rate), 0, 0, LOAD_BIT | SIZE_BIT, CHAIN_BIT | LOAD_BIT | SIZE_BIT,
	  "500/s" },
	{ "fail", SHARES, AT(fail), 0, 0, 0, CHAIN_BIT | LOAD_BIT | SIZE_BIT, "1%,10%,100%" },
	{ "budget", SHARES, AT(budget), 0, 0, 0, CHAIN_BIT | LOAD_BIT | SIZE_BIT, "10%,50%" },
	{ "floor", RATE, AT(floor), 0, 0, 0, LOAD_BIT, "1/s" },
	{ "outage", TIME, AT(outage), 0, 0, SIZE_BIT, SIZE_BIT, "30s" },
	{ "capacity", RATE, AT(capacity), 0, 0, 0, CHAIN_BIT | LOAD_BIT | SIZE_BIT, "600/s" },
#undef AT
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static const char *const names[] = {
	[CALC_CHAIN] = "chain",
	[CALC_LOAD] = "load",
	[CALC_SIZE] = "size",
};

enum calc_formula calc_formula_named(const char *word)
{
	enum calc_formula formula = CALC_CHAIN;

	while (formula < CALC_FORMULAS && strcmp(names[formula], word) != 0)
		formula++;
	return formula;
}

const char *calc_formula_name(enum calc_formula formula)
{
	return names[formula];
}

struct unit {
	const char *name;
	double worth;
};

static const struct unit rates[] = {
	{ "/s", 1 }, { "/m", 1.0 / 60 }, { "/h", 1.0 / 3600 }, { NULL, 0 }
};
static const struct unit times[] = {
	{ "ms", 0.001 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { NULL, 0 }
};

/* Something above zero, with one of the units behind it. */
static bool read_unit(const char *text, const struct unit *unit, double *value)
{
	int64_t number;
	const char *end = decimal_parse(text, MILLION, &number);

	if (!end || number == 0)
		return false;
	for (; unit->name; unit++)
		if (strcmp(end, unit->name) == 0) {
			*value = (double)number / MILLION * unit->worth;
			return true;
		}
	return false;
}

static bool read_count(const char *text, const struct row *row, int *value)
{
	int64_t number;
	const char *end = decimal_parse(text, 1, &number);

	if (!end || *end || strchr(text, '.') || number < row->least || number > row->most)
		return false;
	*value = (int)number;
	return true;
}

static bool read_shares(const char *text, struct calc_shares *shares)
{
	struct calc_shares read = { .count = 0 };
	const char *at = text;

	do {
		int64_t number;

		at = decimal_parse(at, MILLION, &number);
		if (read.count == CALC_SHARES_MAX || !at || *at++ != '%' || number > 100 * MILLION)
			return false;
		read.share[read.count++] = (double)number / (100.0 * MILLION);
	} while (*at++ == ',');
	if (at[-1] != '\0')
		return false;
	*shares = read;
	return true;
}

static bool read_value(const struct row *row, const char *text, void *field)
{
	switch (row->kind) {
	case COUNT:
		return read_count(text, row, field);
	case RATE:
		return read_unit(text, rates, field);
	case TIME:
		return read_unit(text, times, field);
	case SHARES:
		return read_shares(text, field);
	}
	return false;
}

static void tell_range(const struct row *row, FILE *err)
{
	switch (row->kind) {
	case COUNT:
		fprintf(err, "a whole number from %d to %d", row->least, row->most);
		break;
	case RATE:
		fputs("a rate above 0 with /s, /m or /h", err);
		break;
	case TIME:
		fputs("a time above 0 with ms, s, m or h", err);
		break;
	case SHARES:
		fprintf(err, "percentages from 0%% to 100%%, at most %d, with commas between",
		        CALC_SHARES_MAX);
		break;
	}
}

bool calc_set(enum calc_formula formula, const char *option, const char *text,
              struct calc_question *question, calc_given *given, FILE *err)
{
	const struct row *row = rows;
	bool first = true;

	while (row < rows + ROWS && strcmp(row->name, option) != 0)
		row++;
	if (row == rows + ROWS)
		return false;
	if (!(row->understood & 1U << formula)) {
		fprintf(
		    err,
		    "retrybudget: calc %s: --%s has no meaning here; leave it out (calc %s has:",
		    names[formula], option, names[formula]);
		for (size_t i = 0; i < ROWS; i++)
			if (rows[i].understood & 1U << formula) {
				fprintf(err, "%s --%s", first ? "" : ",", rows[i].name);
				first = false;
			}
		fputs(")\n", err);
		return false;
	}
	if (!read_value(row, text, (char *)question + row->at)) {
		fprintf(err, "retrybudget: calc %s: --%s '%.40s': write ", names[formula], option,
		        text);
		tell_range(row, err);
		fprintf(err, ", as in --%s %s\n", option, row->example);
		return false;
	}
	*given |= 1U << (row - rows);
	return true;
}

static bool is_given(calc_given given, const char *name)
{
	for (size_t i = 0; i < ROWS; i++)
		if (strcmp(rows[i].name, name) == 0)
			return given & 1U << i;
	return false;
}

bool calc_complete(enum calc_formula formula, struct calc_question *question, calc_given given,
                   FILE *err)
{
	for (size_t i = 0; i < ROWS; i++)
		if ((rows[i].needed & 1U << formula) && !(given & 1U << i)) {
			fprintf(err,
			        "retrybudget: calc %s: --%s is missing; add it, as in --%s %s\n",
			        names[formula], rows[i].name, rows[i].name, rows[i].example);
			return false;
		}
	if (is_given(given, "capacity") && !is_given(given, "rate")) {
		fprintf(err,
		        "retrybudget: calc %s: --capacity needs a load to be held against; add "
		        "--rate, as in --rate 500/s\n",
		        names[formula]);
		return false;
	}
	if (is_given(given, "floor") && !is_given(given, "budget")) {
		fprintf(err,
		        "retrybudget: calc %s: --floor is a part of a budget; add --budget, as "
		        "in --budget 10%%\n",
		        names[formula]);
		return false;
	}
	if (!is_given(given, "fail"))
		question->fail = (struct calc_shares) { .share = { 1 }, .count = 1 };
	if (!is_given(given, "retries"))
		question->retries = 1;
	return true;
}
