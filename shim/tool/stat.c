/* SPDX-License-Identifier: MIT */
/* retrybudget stat: what the library has counted in the processes that run under it. */
#include "tool/stat.h"

#include "sys/text.h"
#include "tool/options.h"
#include "tool/stat_json.h"
#include "tool/stat_table.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOTHING (-1) /* was found */

static const char usage[] =
    "usage: retrybudget stat [--json] [--watch[=SECONDS]] [PID | PROG | DEST]\n"
    "\n"
    "Prints what the library has counted in running processes: of one process, of those\n"
    "of one program, or of one destination (db.internal:5432, db.internal for any port,\n"
    ":5432 for any host). Processes that share a budget are one row.\n"
    "\n";

static const char after[] =
    "\n"
    "REFUSED are calls that were not let through, HELD those that were, and then went; TOKENS\n"
    "are what was left at the last change, of how many. retrybudget(1) explains the rest.\n"
    "Other users' processes can be read by root, or with CAP_SYS_PTRACE.\n"
    "\n"
    "Exit status: 1 if what was asked for is not there, 2 for a wrong usage, else 0.\n";

struct request {
	const struct printer *printer;
	const char *wanted; /* or NULL */
	pid_t pid;          /* or 0 */
	double seconds;     /* between two, 0 = once */
};

/* The whole name, or what stands before its port, or that with its colon. */
static bool is_destination(const char *name, const char *wanted)
{
	const char *shown = family_text(name, REGION_NAME), *port = strrchr(shown, ':');
	size_t n = strlen(wanted);

	return strcmp(shown, wanted) == 0 || (port && strcmp(port, wanted) == 0) ||
	       (port && (size_t)(port - shown) == n && strncmp(shown, wanted, n) == 0);
}

static bool is_program(const struct family *family, const char *wanted)
{
	if (strcmp(family_program(family), wanted) == 0)
		return true;
	for (size_t i = 0; i < family->count; i++)
		if (strcmp(family->members[i].name, wanted) == 0)
			return true;
	return false;
}

bool stat_choose(const char *wanted, const struct family *family, struct snapshot *snapshot)
{
	int kept = 0;

	if (is_program(family, wanted))
		return true;
	for (int i = 0; i < snapshot->slot_count; i++)
		if (is_destination(snapshot->destinations[i].name, wanted)) {
			snapshot->slots[kept] = snapshot->slots[i];
			if (kept < i)
				memcpy(&snapshot->destinations[kept], &snapshot->destinations[i],
				       sizeof(*snapshot->destinations));
			kept++;
		}
	snapshot->slot_count = kept;
	return kept > 0;
}

struct printing {
	const struct request *request;
	size_t printed;
};

static void print_family(struct family *family, struct snapshot *snapshot, void *arg)
{
	struct printing *printing = arg;

	if (printing->request->wanted && !printing->request->pid &&
	    !stat_choose(printing->request->wanted, family, snapshot))
		return;
	printing->request->printer->family(family);
	printing->printed++;
}

static int print_once(const struct request *request, size_t *unreadable)
{
	struct printing printing = { .request = request };

	request->printer->begin();
	if (!families_visit(request->pid, print_family, &printing, unreadable)) {
		fprintf(stderr, "retrybudget: stat: cannot look at processes: %s\n",
		        strerror(errno));
		return 1;
	}
	request->printer->end(*unreadable);
	return printing.printed ? 0 : NOTHING;
}

void stat_pause(double seconds)
{
	struct timespec time = { .tv_sec = (time_t)seconds };

	time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
	(void)nanosleep(&time, NULL);
}

static int watch(const struct request *request)
{
	bool on_screen = isatty(STDOUT_FILENO) && request->printer == &stat_table;
	size_t unreadable;

	for (bool first = true;; first = false) {
		if (on_screen)
			fputs("\033[H\033[J", stdout);
		else if (!first && request->printer == &stat_table)
			putchar('\n');
		if (print_once(request, &unreadable) == NOTHING && request->printer == &stat_table)
			puts("nothing to show");
		if (fflush(stdout) != 0) /* nobody reads any more */
			return 1;
		stat_pause(request->seconds);
	}
}

bool stat_seconds(const char *text, double *seconds)
{
	char *end;

	*seconds = 2;
	if (!text)
		return true;
	*seconds = strtod(text, &end);
	return end != text && *end == '\0' && *seconds >= 0.1 && *seconds <= 86400;
}

static int say_usage(FILE *out)
{
	return options_usage("stat", usage, after, out);
}

static void say_nothing_found(const struct request *request, size_t unreadable)
{
	if (request->pid)
		process_say_missed("stat", request->pid);
	else
		fprintf(stderr, "retrybudget: stat: %s\n",
		        request->wanted ? "no such process, program or destination"
		        : unreadable ? "no process that may be looked into runs under the library"
		                     : "no process runs under the library");
}

int cmd_stat(int argc, char **argv)
{
	struct request request = { .printer = &stat_table };
	struct option list[OPTIONS_MAX];
	size_t unreadable = 0;
	int letter, result;

	options_of("stat", list);
	while ((letter = getopt_long(argc, argv, "w::h", list, NULL)) != -1) {
		switch (letter) {
		case OPTION_JSON:
			request.printer = &stat_json;
			if (!stat_json.begin) {
				fputs("retrybudget: stat: built without jansson, hence without "
				      "--json\n",
				      stderr);
				return EXIT_USAGE;
			}
			break;
		case 'w':
			if (!stat_seconds(optarg, &request.seconds)) {
				fputs("retrybudget: stat: --watch takes 0.1 to 86400 seconds\n",
				      stderr);
				return EXIT_USAGE;
			}
			break;
		case 'h':
			return say_usage(stdout);
		default:
			return say_usage(stderr);
		}
	}
	if (argc - optind > 1)
		return say_usage(stderr);
	request.wanted = argv[optind];
	if (request.wanted)
		request.pid = process_number(request.wanted);
	if (request.seconds > 0)
		return watch(&request);
	result = print_once(&request, &unreadable);
	if (result == NOTHING && request.printer == &stat_table)
		say_nothing_found(&request, unreadable);
	if (result == NOTHING)
		result = request.wanted ? 1 : 0;
	return fflush(stdout) ? 1 : result;
}
