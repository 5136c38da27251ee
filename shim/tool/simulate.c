/* SPDX-License-Identifier: MIT */
/*
 * retrybudget simulate: what a policy does, before it is put in force: to a whole scenario of
 * clients and servers, or to a trace of attempts.
 */
#include "tool/options.h"
#include "tool/sim_play.h"
#include "tool/tool.h"
#include "tool/trace.h"

#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: retrybudget simulate --scenario FILE [OPTION...] [CONFIG [LABEL]]\n"
    "       retrybudget simulate [--original] CONFIG [LABEL] < TRACE\n"
    "\n"
    "Plays a scenario in virtual time, once for each [variant] of it (without any: bare,\n"
    "and under the library), by the section [destination LABEL] of CONFIG, or\n"
    "[destination default], or the built-in defaults. Prints a row of numbers for each,\n"
    "and what the scenario expects of them.\n"
    "\n"
    "Or reads a trace from standard input and prints what the policy says to it. A line is\n"
    "a moment in ms, an event and perhaps a value:\n"
    "\n"
    "  1000 n       a request begins\n"
    "  1020 f       its try fails (t: by a timeout; s: it succeeds)\n"
    "  1020 r       may the failed try be made again? Answered by 1 or 0\n"
    "  1020 p       how much is left? In thousandths of a token, or of a chance\n"
    "  1090 e 1000  the first try that began then is over (x: the retry); only\n"
    "               strategy = concurrency asks for these\n"
    "\n";

static const char more[] =
    "\n"
    "Exit status: 0, 1 if a file cannot be read or a number is not as the scenario expects,\n"
    "2 for a wrong usage.\n";

static void print_usage(FILE *out)
{
	fputs(usage, out);
	options_print("simulate", out);
	fputs(more, out);
}

/* False: the value is told to be none. */
static bool take_value(struct sim_question *question, const char *option, const char *value)
{
	if (strcmp(option, "scenario") == 0) {
		question->scenario = value;
	} else if (strcmp(option, "plot") == 0) {
		question->plot = value;
	} else if (strcmp(option, "sweep") == 0) {
		return sim_question_sweep(question, value, stderr);
	} else if (strcmp(option, "region") == 0) {
		question->region = true;
	} else if (strcmp(option, "steps") == 0) {
		question->steps = true;
	} else if (strcmp(option, "keys") == 0) {
		question->keys = true;
	} else if (strcmp(option, "threads") == 0) {
		question->threads = (int)strtol(value, NULL, 10);
		if (question->threads >= 1 && question->threads <= 64)
			return true;
		fputs("retrybudget: simulate: --threads takes a number from 1 to 64\n", stderr);
		return false;
	}
	return true;
}

int cmd_simulate(int argc, char **argv)
{
	struct option known[OPTIONS_MAX];
	static struct sim_question question;
	bool original = false;
	int option, at;

	options_of("simulate", known);
	while ((option = getopt_long(argc, argv, "hs:", known, &at)) != -1) {
		bool good = true;

		if (option == OPTION_ORIGINAL)
			original = true;
		else if (option == OPTION_JSON)
			question.json = true;
		else if (option == 's')
			question.scenario = optarg;
		else if (option == OPTION_SET)
			good = sim_question_set(&question, optarg, stderr);
		else if (option == OPTION_VALUE)
			good = take_value(&question, known[at].name, optarg);
		else {
			print_usage(option == 'h' ? stdout : stderr);
			return option != 'h' ? EXIT_USAGE : fflush(stdout) ? 1 : 0;
		}
		if (!good)
			return EXIT_USAGE;
	}
	if (argc - optind > 2 || (argc == optind && !question.scenario && !question.keys)) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	question.config = argc > optind ? argv[optind] : NULL;
	question.label = argc > optind + 1 ? argv[optind + 1] : "default";
	if (!question.scenario && !question.keys)
		return trace_play(question.config, question.label, original);
	if (original && !sim_question_set(&question, "policy.original=on", stderr))
		return EXIT_USAGE;
	return sim_answer(&question, stdout, stderr);
}
