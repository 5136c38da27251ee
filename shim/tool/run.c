/* SPDX-License-Identifier: MIT */
/* retrybudget run: starts a program under the shim, or says in one sentence why that is no use. */
#include "config/config.h"
#include "config/read.h"
#include "sys/inject_text.h"
#include "tool/library.h"
#include "tool/options.h"
#include "tool/reach.h"
#include "tool/run_and_tell.h"
#include "tool/settings.h"
#include "tool/tell.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static const char usage[] = "usage: retrybudget run [-c FILE] [--observe] [--log stderr]\n"
			    "                       [--set [SECTION.]KEY=VALUE]...\n"
			    "                       [--inject DEST=HOW]... [--stat-on-exit]\n"
			    "                       [--] CMD [ARG...]\n"
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
	bool observe, log_stderr, stat_on_exit;
	struct setting_list settings;
	char injections[INJECT_LINES * (INJECT_NAME + 100)];
	int injection_count;
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

static bool add_injection(struct options *options, const char *given)
{
	size_t used = strlen(options->injections);
	struct inject_plan plan;
	const char *why =
	    strchr(given, '\n') ? "write DEST=refused:2,hang:1" : inject_parse(given, &plan);

	if (!why && options->injection_count++ == INJECT_LINES)
		why = "too many destinations: there is room for 8";
	if (!why && strlen(given) + 2 > sizeof(options->injections) - used)
		why = "too long";
	if (why) {
		fail(EXIT_OWN, "--inject '%s': %s", given, why);
		return false;
	}
	(void)snprintf(options->injections + used, sizeof(options->injections) - used, "%s\n",
	               given);
	return true;
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
		case OPTION_SET:
			if (!settings_add(&options->settings, optarg))
				return EXIT_OWN + 1;
			break;
		case OPTION_STAT_ON_EXIT:
			options->stat_on_exit = true;
			break;
		case OPTION_INJECT:
			if (!add_injection(options, optarg))
				return EXIT_OWN + 1;
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

static int set_settings(const struct setting_list *list)
{
	const char *file = getenv("RETRYBUDGET_CONFIG");

	if (!settings_check(list, file && *file ? file : CONFIG_SYSTEM_FILE))
		return EXIT_OWN;
	return setenv(OVERRIDES_VARIABLE, list->text, 1) == 0
	           ? 0
	           : fail(EXIT_OWN, "%s", strerror(errno));
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

static int start(char **command)
{
	execvp(command[0], command);
	return fail(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_UNFIT, "%s: %s", command[0],
	            strerror(errno));
}

int cmd_run(int argc, char **argv)
{
	static struct reach verdict; /* some kilobytes */
	static struct options options;
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
	if (!result && options.settings.count)
		result = set_settings(&options.settings);
	if (result)
		return result;
	if ((options.observe && setenv("RETRYBUDGET", "observe", 1) != 0) ||
	    (options.log_stderr && setenv("RETRYBUDGET_LOG", "stderr", 1) != 0) ||
	    (options.injection_count && setenv(INJECT_VARIABLE, options.injections, 1) != 0))
		return fail(EXIT_OWN, "%s", strerror(errno));
	if (options.stat_on_exit)
		return run_and_tell(argv + optind, start);
	return start(argv + optind);
}
