/* SPDX-License-Identifier: MIT */
/* What is asked of retrybudget calc: the values of its options, read and checked. */
#ifndef RETRYBUDGET_TOOL_CALC_VALUES_H
#define RETRYBUDGET_TOOL_CALC_VALUES_H

#include <stdbool.h>
#include <stdio.h>

#define CALC_SHARES_MAX 8

struct calc_shares {
	double share[CALC_SHARES_MAX]; /* 0..1 */
	int count;
};

struct calc_question {
	int hops, tries, retries;
	double rate, capacity, floor; /* per second; capacity 0: not asked */
	double outage;                /* seconds */
	struct calc_shares fail, budget;
};

enum calc_formula {
	CALC_CHAIN,
	CALC_LOAD,
	CALC_SIZE,
	CALC_FORMULAS,
};

/* The word on the command line; CALC_FORMULAS if there is none such. */
enum calc_formula calc_formula_named(const char *word);
const char *calc_formula_name(enum calc_formula formula);

/* The options that calc_set() has seen, a bit for each row of its table. */
typedef unsigned calc_given;

/* Reads the value of the option. False, with the option and the remedy told to err, if the formula
 * does not have it or the value is none. */
bool calc_set(enum calc_formula formula, const char *option, const char *text,
              struct calc_question *question, calc_given *given, FILE *err);

/* False, with one told to err, if the formula lacks an option; else fills in what may be left out:
 * everything fails, and in size one retry. */
bool calc_complete(enum calc_formula formula, struct calc_question *question, calc_given given,
                   FILE *err);

#endif
