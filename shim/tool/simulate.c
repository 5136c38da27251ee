/* SPDX-License-Identifier: MIT */
/*
 * retrybudget simulate: what a policy does, before it is put in force: to a whole scenario of
 * clients and servers, or to a trace of attempts.
 */
#include "tool/options.h"
#include "tool/sim_play.h"
#include "tool/tool.h"
#include "tool/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: retrybudget simulate SCENARIO [OPTION...] [CONFIG [LABEL]]\n"
    "       retrybudget simulate [--original] CONFIG [LABEL] < TRACE\n"
    "\n"
    "Plays a scenario (conf/scenarios has some) in virtual time, once for each [variant] of\n"
    "it (without any: bare, and under the library), by the section [destination LABEL] of\n"
    "CONFIG, or [destination default], or the built-in defaults. Prints a row of numbers for\n"
    "each, and what the scenario expects of them.\n"
    "\n"
    "Or, where the first file is no scenario, reads a trace from standard input and prints\n"
    "what the policy says to it. A line is a moment in ms, an event and perhaps a value:\n"
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

/* Sections that every scenario has some of, and no configuration any. */
static const char *const sections[] = { "scenario", "clients", "server",
	                                "outage",   "variant", "expect" };

static bool begins_section(const char *line)
{
	line += strspn(line, " \t");
	for (size_t i = 0; *line == '[' && i < sizeof(sections) / sizeof(*sections); i++) {
		size_t n = strlen(sections[i]);

		if (strncmp(line + 1, sections[i], n) == 0 && strchr("] \t", line[1 + n]))
			return true;
	}
	return false;
}

/* Whoever reads it says what is wrong with it. */
static bool is_scenario(const char *path)
{
	FILE *in = fopen(path, "re");
	bool found = false;
	char line[256];

	while (in && !found && fgets(line, sizeof(line), in))
		found = begins_section(line);
	if (in)
		fclose(in);
	return found;
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

static const char write_so[] = "write: retrybudget simulate SCENARIO [CONFIG [LABEL]]";

/* False: what was asked is neither of a scenario nor of a trace, which is told. */
static bool is_whole(const struct sim_question *question, const char *only_of_one)
{
	if (question->keys)
		return true;
	if (!question->scenario && !question->config) {
		fprintf(stderr, "retrybudget: simulate: no scenario is named; %s\n", write_so);
		return false;
	}
	if (!question->scenario && only_of_one) {
		fprintf(stderr,
		        "retrybudget: simulate: --%s is of a scenario, and %s is none; %s\n",
		        only_of_one, question->config, write_so);
		return false;
	}
	if (question->scenario && access(question->scenario, R_OK) == 0 &&
	    !is_scenario(question->scenario)) {
		fprintf(stderr,
		        "retrybudget: simulate: %s is no scenario: it has no section [clients], "
		        "[server] or the like; %s\n",
		        question->scenario, write_so);
		return false;
	}
	if (question->scenario && question->config && is_scenario(question->config)) {
		fprintf(stderr,
		        "retrybudget: simulate: %s is a scenario, too, and one is played; %s\n",
		        question->config, write_so);
		return false;
	}
	return true;
}

/* Who forgot the trace would wait for ever. */
static void say_what_is_read(void)
{
	if (isatty(STDIN_FILENO))
		fprintf(stderr,
		        "retrybudget: simulate: reading a trace from the terminal; to play a "
		        "scenario, %s\n",
		        write_so);
}

static struct sim_question asked; /* too large for a stack */

int cmd_simulate(int argc, char **argv)
{
	struct option known[OPTIONS_MAX];
	const char *only_of_one = NULL; /* an option that only a scenario has */
	bool original = false;
	int option, at;

	options_of("simulate", known);
	while ((option = getopt_long(argc, argv, "hs:", known, &at)) != -1) {
		bool good = true;

		if (option == OPTION_ORIGINAL)
			original = true;
		else if (option == OPTION_JSON)
			asked.json = true;
		else if (option == 's')
			asked.scenario = optarg;
		else if (option == OPTION_SET)
			good = sim_question_set(&asked, optarg, stderr);
		else if (option == OPTION_VALUE)
			good = take_value(&asked, known[at].name, optarg);
		else {
			print_usage(option == 'h' ? stdout : stderr);
			return option != 'h' ? EXIT_USAGE : fflush(stdout) ? 1 : 0;
		}
		if (!good)
			return EXIT_USAGE;
		if (option != OPTION_ORIGINAL && option != 's')
			only_of_one = known[at].name;
	}
	if (!asked.scenario && argc > optind && is_scenario(argv[optind]))
		asked.scenario = argv[optind++];
	if (argc - optind > 2) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	asked.config = argc > optind ? argv[optind] : NULL;
	asked.label = argc > optind + 1 ? argv[optind + 1] : "default";
	if (!is_whole(&asked, only_of_one))
		return EXIT_USAGE;
	if (!asked.scenario && !asked.keys) {
		say_what_is_read();
		return trace_play(asked.config, asked.label, original);
	}
	if (original && !sim_question_set(&asked, "policy.original=on", stderr))
		return EXIT_USAGE;
	return sim_answer(&asked, stdout, stderr);
}
