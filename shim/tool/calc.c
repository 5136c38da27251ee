/* SPDX-License-Identifier: MIT */
/* retrybudget calc: what retries and budgets do to a load, on paper. */
#include "tool/calc_print.h"
#include "tool/options.h"
#include "tool/tool.h"

static const char usage[] =
    "usage: retrybudget calc chain --hops N --tries N [OPTION...]\n"
    "       retrybudget calc load --rate RATE --retries N [OPTION...]\n"
    "       retrybudget calc size --rate RATE --outage TIME [OPTION...]\n"
    "\n"
    "Prints what retries and budgets do to a load, by formulas to be checked by hand:\n"
    "  chain   servers that call each other, each with tries of its own\n"
    "  load    requests of which some fail and are repeated\n"
    "  size    how large a bucket an outage takes\n"
    "\n";

static const char examples[] =
    "\n"
    "A RATE is 500/s, 30/m or 10/h, a TIME 200ms, 30s or 5m, and SHARES 1%,10%,100%.\n"
    "\n"
    "  retrybudget calc chain --hops 5 --tries 3 --fail 100%\n"
    "  retrybudget calc load --rate 10000/s --fail 1%,10%,100% --retries 3 --budget 10%,50%\n"
    "  retrybudget calc size --rate 500/s --outage 30s\n"
    "\n"
    "Exit status: 0, 2 for a wrong usage.\n";

static void print_usage(FILE *out)
{
	fputs(usage, out);
	options_print("calc", out);
	fputs(examples, out);
}

int cmd_calc(int argc, char **argv)
{
	struct option known[OPTIONS_MAX];
	struct calc_question question = { .hops = 0 };
	enum calc_formula formula = CALC_FORMULAS;
	calc_given given = 0;
	int option, at;

	if (argc > 1 && argv[1][0] != '-') {
		formula = calc_formula_named(argv[1]);
		if (formula == CALC_FORMULAS) {
			fprintf(stderr,
			        "retrybudget: calc: no formula '%s'; there are chain, load and "
			        "size\n",
			        argv[1]);
			return EXIT_USAGE;
		}
		argc--;
		argv++;
	}
	options_of("calc", known);
	while ((option = getopt_long(argc, argv, "h", known, &at)) != -1) {
		if (option == OPTION_VALUE && formula != CALC_FORMULAS) {
			if (!calc_set(formula, known[at].name, optarg, &question, &given, stderr))
				return EXIT_USAGE;
			continue;
		}
		print_usage(option == 'h' ? stdout : stderr);
		return option != 'h' ? EXIT_USAGE : fflush(stdout) ? 1 : 0;
	}
	if (formula == CALC_FORMULAS) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (optind < argc) {
		fprintf(stderr, "retrybudget: calc %s: '%s' belongs to no option; leave it out\n",
		        calc_formula_name(formula), argv[optind]);
		return EXIT_USAGE;
	}
	if (!calc_complete(formula, &question, given, stderr))
		return EXIT_USAGE;
	calc_print(formula, &question, stdout);
	return fflush(stdout) ? 1 : 0;
}
