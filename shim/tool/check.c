/* SPDX-License-Identifier: MIT */
/* retrybudget check: every message that the shim would write about a file, what is in vain or risky
 * in it, and an exit code. */
#include "config/effect.h"
#include "config/read.h"
#include "tool/dangers.h"
#include "tool/tell.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char usage[] =
    "usage: retrybudget check FILE...\n"
    "\n"
    "Prints what is wrong in a configuration file, as FILE:LINE: MESSAGE. Notes each\n"
    "key that has no effect with what else its section says, each value that is risky,\n"
    "with what is usual, and a file of root's that not everybody may read; none of these\n"
    "is wrong.\n"
    "Exit status: 0 if nothing is, 1 if something is, 2 for a wrong usage.\n";

/* Whoever may not read it goes by the defaults, whatever it says. */
static void note_readers(const char *file)
{
	struct stat is;

	if (stat(file, &is) == 0 && is.st_uid == 0 && !(is.st_mode & S_IROTH))
		tell(NULL, file, 0,
		     "note: not everybody may read it, and programs of who may not have the "
		     "built-in defaults, which enforce; chmod a+r mends that");
}

/* True if nothing is wrong in it. */
static bool check(const char *file)
{
	static struct config config;
	static struct origins origins;
	struct source source = {
		.file = file,
		.owned_by_root = geteuid() == 0,
		.mode = MODE_AS_IN_FILE,
		.origins = &origins,
		.complain = tell,
	};
	struct identity identity;
	uint32_t fingerprint;
	enum reading_result result;

	memset(&origins, 0, sizeof(origins));
	result = config_read_source(&config, &source, &identity, &fingerprint);
	if (result != READING_FAILED) {
		effect_check(&config, &origins, file, tell);
		dangers_check(&config, &origins, file, tell);
		note_readers(file);
	}
	return result == READING_GOOD;
}

int cmd_check(int argc, char **argv)
{
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
		if (check(argv[i]))
			printf("%s: ok\n", argv[i]);
		else
			result = 1;
	}
	return fflush(stdout) ? 1 : result;
}
