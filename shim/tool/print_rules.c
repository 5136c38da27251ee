/* SPDX-License-Identifier: MIT */
/* retrybudget rules: what makes an attempt new, a repeat or unclear, in the order that decides. */
#include "dest/rules.h"
#include "tool/options.h"
#include "tool/tool.h"

#include <getopt.h>
#include <stdio.h>

static const char *const words[] = {
	[KIND_NEW] = "new",
	[KIND_REPEAT] = "repeat",
	[KIND_UNCLEAR] = "unclear",
};

static void print_usage(FILE *out)
{
	fputs("usage: retrybudget rules\n\n"
	      "Prints the rules by which an attempt is taken for new work (it goes), for a repeat\n"
	      "of what failed (it pays a token and waits for its destination's gate), or for\n"
	      "neither (it goes as long as the destination answers). The first that holds\n"
	      "decides; records name it (why=).\n\n",
	      out);
	options_print("rules", out);
}

int cmd_rules(int argc, char **argv)
{
	struct option known[OPTIONS_MAX];
	int option;

	options_of("rules", known);
	option = getopt_long(argc, argv, "h", known, NULL);
	if (option == 'h') {
		print_usage(stdout);
		return fflush(stdout) ? 1 : 0;
	}
	if (option != -1 || optind < argc) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < rule_count; i++)
		printf("%-14s %-8s %s\n", rules[i].name, words[rules[i].says], rules[i].reason);
	return fflush(stdout) ? 1 : 0;
}
