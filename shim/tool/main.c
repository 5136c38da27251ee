/* SPDX-License-Identifier: MIT */
/* retrybudget: finds the subcommand and hands over to it. */
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments, *purpose;
};

static const struct command commands[] = {
#define COMMAND(name, operands, arguments, purpose) { #name, cmd_##name, arguments, purpose },
#include "tool/options.def"
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *out)
{
	fputs("usage: retrybudget COMMAND [ARGUMENT...]\n\n", out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-8s %-23s %s\n", commands[i].name, commands[i].arguments,
		        commands[i].purpose);
	fputs(
	    "\n'retrybudget COMMAND --help' says more; so do retrybudget(1) and retrybudget(5).\n",
	    out);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
		help(stdout);
		return fflush(stdout) ? 1 : 0;
	}
	if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		puts("retrybudget " VERSION);
		return fflush(stdout) ? 1 : 0;
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i].name, name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	if (argc > 1)
		fprintf(stderr, "retrybudget: no command '%s'\n\n", name);
	help(stderr);
	return EXIT_USAGE;
}
