/* SPDX-License-Identifier: MIT */
/* The options of the subcommands, from options.def. */
#ifndef RETRYBUDGET_TOOL_OPTIONS_H
#define RETRYBUDGET_TOOL_OPTIONS_H

#include <getopt.h>
#include <stdio.h>

/* What getopt_long() returns for an option without a short form. */
enum {
	OPTION_OBSERVE = 256,
	OPTION_LOG,
	OPTION_SAMPLE,
	OPTION_MAN_KEYS,
	OPTION_ORIGINAL,
	OPTION_JSON,
	OPTION_WAIT,
	OPTION_SET,
	OPTION_INJECT,
	OPTION_STAT_ON_EXIT,
	OPTION_VALUE, /* told apart by its name */
};

#define OPTIONS_MAX 16 /* of one subcommand, the end of the list included */

/* Fills the list that getopt_long() takes. */
void options_of(const char *command, struct option list[OPTIONS_MAX]);

/* Prints one line for each option. */
void options_print(const char *command, FILE *out);

/* Prints the usage, the options and what comes after them: to stdout for --help, else to stderr.
 * Returns the exit status. */
int options_usage(const char *command, const char *usage, const char *after, FILE *out);

#endif
