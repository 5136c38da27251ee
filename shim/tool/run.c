/* SPDX-License-Identifier: MIT */
/* retrybudget run: starts a program under the shim, or says in one sentence why that is no use. */
#include "config/config.h"
#include "tool/library.h"
#include "tool/options.h"
#include "tool/reach.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static const char usage[] =
    "usage: retrybudget run [-c FILE] [--observe] [--log stderr] [--] CMD [ARG...]\n"
    "\n"
    "Starts CMD with libretrybudget.so loaded into it.\n"
    "\n";

static const char more[] =
    "\n"
    "Exit status: that of CMD; 125 if this command fails, 126 if CMD cannot be\n"
    "invoked or the library cannot reach it, 127 if CMD is not found.\n";

static void print_usage(FILE *out)
{
	fputs(usage, out);
	options_print("run", out);
	fputs(more, out);
}

struct options {
	const char *config;
	bool observe, log_stderr;
};

static __attribute__((format(printf, 2, 3))) int fail(int code, const char *format, ...)
{
	va_list args;

	fputs("retrybudget: run: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

/* 0: go on. Otherwise the exit code, plus one, so that success (--help) can be told. */
static int read_options(int argc, char **argv, struct options *options)
{
	struct option known[OPTIONS_MAX];
	int option;

	options_of("run", known);
	optind = 1;
	opterr = 0; /* getopt would name "run" as the program */
	while ((option = getopt_long(argc, argv, "+c:h", known, NULL)) != -1) {
		switch (option) {
		case 'c':
			options->config = optarg;
			break;
		case OPTION_OBSERVE:
			options->observe = true;
			break;
		case OPTION_LOG:
			if (strcmp(optarg, "stderr") != 0)
				return fail(EXIT_OWN,
				            "--log knows only stderr; other targets go into the "
				            "file's [log] section") +
				       1;
			options->log_stderr = true;
			break;
		case 'h':
			print_usage(stdout);
			return 1;
		default:
			return fail(EXIT_OWN,
			            "%s is not an option of run, or lacks its value; see "
			            "retrybudget run --help",
			            argv[optind - 1]) +
			       1;
		}
	}
	if (optind >= argc)
		return fail(EXIT_OWN, "no command given; see retrybudget run --help") + 1;
	return 0;
}

/* The shim opens no symbolic links, and the program may change its directory first: the path is
 * made absolute and real. A file that the shim would not use is refused here, where somebody sees
 * it, instead of in the log. */
static int set_config(const char *file)
{
	static struct config unused; /* large; only the messages count */
	char absolute[PATH_MAX];

	if (!realpath(file, absolute))
		return fail(EXIT_OWN, "cannot read %s: %s", file, strerror(errno));
	if (config_read(&unused, absolute, false, tell, NULL) < 0)
		return fail(EXIT_OWN, "cannot use %s, and so nothing was started", file);
	if (setenv("RETRYBUDGET_CONFIG", absolute, 1) != 0)
		return fail(EXIT_OWN, "%s", strerror(errno));
	return 0;
}

/* Before the others: behind a proxy (torsocks, proxychains) nothing is to be seen of the program's
 * own connects, and both put themselves in front. */
static int set_preload(const char *library)
{
	const char *list = getenv("LD_PRELOAD");
	char *both;
	int result;

	if (strpbrk(library, ": $"))
		return fail(
		    EXIT_OWN,
		    "LD_PRELOAD cannot hold the path %s, which has a colon, a space or a $; "
		    "install the library elsewhere",
		    library);
	if (list && library_in_preload(list, library))
		return 0;
	if (!list || !*list)
		result = setenv("LD_PRELOAD", library, 1);
	else if (asprintf(&both, "%s:%s", library, list) < 0)
		result = -1;
	else {
		result = setenv("LD_PRELOAD", both, 1);
		free(both);
	}
	return result == 0 ? 0 : fail(EXIT_OWN, "%s", strerror(errno));
}

static bool is_asan_preloaded(void)
{
	const char *list = getenv("LD_PRELOAD");

	return list && strstr(list, "libasan.so");
}

/* ASan ends a program in which another library comes before its own, lest that one should allocate
 * first. Ours never does, and behind ASan's it would be out of sight of children that have none. */
static int allow_asan(void)
{
	static const char option[] = "verify_asan_link_order=0";
	const char *set = getenv("ASAN_OPTIONS");
	char *both;
	int result = -1;

	if (asprintf(&both, "%s%s%s", set ? set : "", set && *set ? ":" : "", option) >= 0) {
		result = setenv("ASAN_OPTIONS", both, 1);
		free(both);
	}
	return result == 0 ? 0 : fail(EXIT_OWN, "%s", strerror(errno));
}

int cmd_run(int argc, char **argv)
{
	static struct verdict verdict; /* some kilobytes */
	struct options options = { 0 };
	int result = read_options(argc, argv, &options);

	if (result)
		return result - 1;
	reach_command(argv[optind], &verdict);
	if (verdict.code)
		return fail(verdict.code, "%s", verdict.message);
	result = set_preload(verdict.library);
	if (!result && (verdict.asan || is_asan_preloaded()))
		result = allow_asan();
	if (!result && options.config)
		result = set_config(options.config);
	if (result)
		return result;
	if ((options.observe && setenv("RETRYBUDGET", "observe", 1) != 0) ||
	    (options.log_stderr && setenv("RETRYBUDGET_LOG", "stderr", 1) != 0))
		return fail(EXIT_OWN, "%s", strerror(errno));
	execvp(argv[optind], argv + optind);
	return fail(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_UNFIT, "%s: %s", argv[optind],
	            strerror(errno));
}
