/* SPDX-License-Identifier: MIT */
/* `retrybudget inspect --all`: processes that the library could reach, and is not in. */
#include "tool/inspect_all.h"

#include "tool/maps.h"
#include "tool/reach.h"

#include "sys/text.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

struct numbers {
	size_t loaded, reachable, unreachable, unreadable;
};

static void print_process(const char *pid, const char *program)
{
	char shown[4 * PATH_MAX];
	struct text text;

	text_start(&text, shown, sizeof(shown));
	text_escaped(&text, program, strlen(program), sizeof(shown) - 1);
	printf("%-10s %s\n", pid, shown);
}

static void tell_of(const char *pid, struct numbers *numbers)
{
	static struct reach verdict; /* some kilobytes */
	char exe[64], program[PATH_MAX];
	ssize_t n;
	int loaded;

	(void)snprintf(exe, sizeof(exe), "/proc/%s/exe", pid);
	n = readlink(exe, program, sizeof(program) - 1);
	if (n < 0 && (errno == ENOENT || errno == ESRCH))
		return; /* a thread of the kernel, or it has ended */
	loaded = n < 0 ? -1 : maps_have_library(pid);
	if (loaded < 0) {
		if (errno != ENOENT && errno != ESRCH)
			numbers->unreadable++;
		return;
	}
	program[n] = '\0';
	if (loaded) {
		numbers->loaded++;
		return;
	}
	reach_command(exe, &verdict);
	if (verdict.code) {
		numbers->unreachable++;
		return;
	}
	if (numbers->reachable++ == 0)
		printf("%-10s %s\n", "PID", "PROGRAM");
	print_process(pid, program);
}

int inspect_all(void)
{
	struct numbers numbers = { 0 };
	const struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (!proc) {
		fprintf(stderr, "retrybudget: inspect: cannot look at processes: %s\n",
		        strerror(errno));
		return EXIT_OWN;
	}
	while ((entry = readdir(proc)))
		if (entry->d_name[strspn(entry->d_name, "0123456789")] == '\0' &&
		    strtol(entry->d_name, NULL, 10) != getpid())
			tell_of(entry->d_name, &numbers);
	closedir(proc);
	printf("%sloaded in %zu %s; could be in %zu more; cannot be reached: %zu",
	       numbers.reachable ? "\n" : "", numbers.loaded,
	       numbers.loaded == 1 ? "process" : "processes", numbers.reachable,
	       numbers.unreachable);
	if (numbers.unreadable)
		printf("; could not be looked into: %zu", numbers.unreadable);
	putchar('\n');
	return fflush(stdout) ? EXIT_OWN : 0;
}
