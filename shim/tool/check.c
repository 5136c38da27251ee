/* SPDX-License-Identifier: MIT */
/* retrybudget check: every message that the shim would write about a file, and an exit code. */
#include "config/config.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: retrybudget check FILE...\n"
    "\n"
    "Prints what is wrong in a configuration file, as FILE:LINE: MESSAGE.\n"
    "Exit status: 0 if nothing is, 1 if something is, 2 for a wrong usage.\n";

int cmd_check(int argc, char **argv)
{
	static struct config config;
	int first = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;
	int result = 0;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(usage, stdout);
		return fflush(stdout) ? 1 : 0;
	}
	if (first >= argc || (first == 1 && argv[1][0] == '-')) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	for (int i = first; i < argc; i++) {
		if (config_read(&config, argv[i], false, tell, NULL) == 0)
			printf("%s: ok\n", argv[i]);
		else
			result = 1;
	}
	return fflush(stdout) ? 1 : result;
}
