/* SPDX-License-Identifier: MIT */
/* retrybudget top: what `stat` prints, live and in the order of what hurts. */
#include "tool/options.h"
#include "tool/stat.h"
#include "tool/tool.h"
#include "tool/top_rows.h"
#include "tool/top_screen.h"
#include "tool/top_text.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: retrybudget top [--sort COLUMN] [--processes] [--interval SECONDS]\n"
    "                       [--batch N] [PROG | DEST]\n"
    "\n"
    "Shows what the library does in running processes, live: destinations or processes,\n"
    "sorted by any column, with a sparkline of what was throttled. Enter shows all of one\n"
    "destination, o, e and x ask for the mode observe, enforce and off; h tells all keys.\n"
    "\n";

static const char after[] =
    "\n"
    "The columns are those of 'retrybudget stat'; THROTTLED is what was refused or held\n"
    "between two looks, the newest to the right.\n"
    "\n"
    "Exit status: 1 if it cannot be shown, 2 for a wrong usage, else 0.\n";

#define BATCH_MOST 1000000

struct request {
	long batch; /* 0: on a screen */
	double seconds;
};

static int say_usage(FILE *out)
{
	return options_usage("top", usage, after, out);
}

static int complain(const char *what)
{
	fprintf(stderr, "retrybudget: top: %s\n", what);
	return EXIT_USAGE;
}

/* -1: go on, else the exit status. */
static int read_options(int argc, char **argv, struct top *top, struct request *request)
{
	struct option list[OPTIONS_MAX];
	char *end;
	int letter;

	options_of("top", list);
	while ((letter = getopt_long(argc, argv, "b:i:s:ph", list, NULL)) != -1) {
		switch (letter) {
		case 'b':
			request->batch = strtol(optarg, &end, 10);
			if (end == optarg || *end || request->batch < 1 ||
			    request->batch > BATCH_MOST)
				return complain("--batch takes 1 to 1000000 looks");
			break;
		case 'i':
			if (!stat_seconds(optarg, &request->seconds))
				return complain("--interval takes 0.1 to 86400 seconds");
			break;
		case 's':
			top->sort = column_named(optarg);
			if (top->sort == COLUMNS_ALL)
				return complain(
				    "--sort takes the heading of a column, like failed");
			break;
		case 'p':
			top->processes = true;
			break;
		case 'h':
			return say_usage(stdout);
		default:
			return say_usage(stderr);
		}
	}
	if (argc - optind > 1)
		return say_usage(stderr);
	top->wanted = argv[optind];
	return -1;
}

static int print_batch(struct top *top, const struct request *request, bool utf8)
{
	for (long i = 0; i < request->batch; i++) {
		if (i > 0)
			stat_pause(request->seconds);
		if (!top_look(top, false)) {
			fprintf(stderr, "retrybudget: top: cannot look at processes: %s\n",
			        strerror(errno));
			return 1;
		}
		if (i > 0)
			putchar('\n');
		top_print_head(stdout, top, 0);
		putchar('\n');
		for (size_t j = 0; j < top->count; j++) {
			top_print_row(stdout, &top->rows[j], 0, utf8);
			putchar('\n');
		}
		if (top->unreadable)
			printf("\n%zu %s could not be looked into\n", top->unreadable,
			       top->unreadable == 1 ? "process" : "processes");
		if (fflush(stdout) != 0) /* nobody reads any more */
			return 1;
	}
	return 0;
}

int cmd_top(int argc, char **argv)
{
	struct top top = { .sort = COLUMN_THROTTLED };
	struct request request = { .seconds = 2 };
	int result = read_options(argc, argv, &top, &request);
	bool utf8;

	if (result >= 0)
		return result;
	(void)setlocale(LC_CTYPE, "");
	utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (request.batch)
		result = print_batch(&top, &request, utf8);
	else if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		result = complain("there is no terminal: --batch N prints");
	else
		result = top_screen(&top, request.seconds, utf8);
	top_free(&top);
	return result;
}
