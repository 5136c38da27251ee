/* SPDX-License-Identifier: MIT */
/* retrybudget inspect: will the shim reach a program, and is it loaded in a process? */
#include "tool/inspect_all.h"
#include "tool/inspect_running.h"
#include "tool/inspect_settings.h"
#include "tool/maps.h"
#include "tool/program.h"
#include "tool/processes.h"
#include "tool/reach.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static const char usage[] =
    "usage: retrybudget inspect CMD | PROG\n"
    "       retrybudget inspect PID\n"
    "       retrybudget inspect --all\n"
    "\n"
    "Tells whether the library will reach a program, and why if it will not. CMD is\n"
    "looked for as `retrybudget run` would; processes that run it, or have that name, are\n"
    "listed, and whether the library is loaded in each. A number that is no command is a\n"
    "running process: its program is inspected, and whether the library is loaded in it,\n"
    "with which configuration and mode. --all lists every process that could be reached\n"
    "and is not.\n"
    "\n"
    "Exit status of CMD: 0 if the library will reach it, 1 if not. Of PID, and of PROG,\n"
    "a name that only processes have: 0 if the library is loaded in all, 1 if not. 125\n"
    "for a wrong usage, or if it cannot be told.\n";

static bool is_process(const char *argument)
{
	char path[PATH_MAX];

	if (!process_number(argument) || program_find(argument, path, sizeof(path)) != ENOENT)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%s", argument);
	return access(path, F_OK) == 0;
}

static void print_verdict(const struct reach *verdict, const char *program)
{
	if (verdict->code)
		printf("no: %s\n", verdict->message);
	else
		printf("yes: %s will be loaded into %s\n", verdict->library, program);
	if (!verdict->code && verdict->php)
		printf("but libraries of PHP's extensions, as of curl, go past it: PHP loads them "
		       "with RTLD_DEEPBIND; put deepbind = strip into [retrybudget]\n");
}

static int inspect_process(const char *pid, struct reach *verdict)
{
	char exe[64], program[PATH_MAX];
	ssize_t n;
	int loaded;

	(void)snprintf(exe, sizeof(exe), "/proc/%s/exe", pid);
	n = readlink(exe, program, sizeof(program) - 1);
	loaded = n < 0 ? -1 : maps_have_library(pid);
	if (loaded < 0) {
		fprintf(stderr, "retrybudget: inspect: cannot look into process %s: %s\n", pid,
		        errno == ENOENT ? "it has no program" : strerror(errno));
		return EXIT_OWN;
	}
	program[n] = '\0';
	printf("process %s runs %s\n", pid, program);
	/* By the link, which leads to the program even if its name now means another file. */
	reach_command(exe, verdict);
	print_verdict(verdict, program);
	printf("the shim is %s in process %s\n", loaded ? "loaded" : "not loaded", pid);
	if (loaded)
		inspect_settings((pid_t)strtol(pid, NULL, 10));
	return loaded ? 0 : 1;
}

/* Of a name that is no command here, as of a daemon that was started by its path, the processes
 * tell all there is to tell. */
static int inspect_command(const char *command, struct reach *verdict)
{
	struct running running;

	reach_command(command, verdict);
	if (verdict->code != EXIT_NOT_FOUND) {
		print_verdict(verdict, command);
		(void)inspect_running(command);
		return verdict->code ? 1 : 0;
	}
	running = inspect_running(command);
	if (running.count > 0)
		return running.loaded == running.count ? 0 : 1;
	print_verdict(verdict, command);
	return 1;
}

int cmd_inspect(int argc, char **argv)
{
	static struct reach verdict; /* some kilobytes */
	int result;

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(usage, stdout);
		return fflush(stdout) ? 1 : 0;
	}
	if (argc == 2 && (strcmp(argv[1], "--all") == 0 || strcmp(argv[1], "-a") == 0))
		return inspect_all();
	if (argc != 2 || argv[1][0] == '-') {
		fputs(usage, stderr);
		return EXIT_OWN;
	}
	if (is_process(argv[1])) {
		result = inspect_process(argv[1], &verdict);
	} else {
		result = inspect_command(argv[1], &verdict);
	}
	return fflush(stdout) ? EXIT_OWN : result;
}
