/* SPDX-License-Identifier: MIT */
/* Which processes run a command now, and whether the library is loaded in each. */
#include "tool/inspect_running.h"

#include "tool/maps.h"
#include "tool/processes.h"
#include "tool/program.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define NAME_SEEN 15 /* bytes of a process's name that the kernel keeps */

/* By the file that it runs, or, for a script, whose file is the interpreter, by the kernel's name.
 */
static bool runs(const char *pid, const char *path, const char *name)
{
	char file[PATH_MAX], text[PATH_MAX];
	ssize_t n;

	(void)snprintf(file, sizeof(file), "/proc/%s/exe", pid);
	n = readlink(file, text, sizeof(text) - 1);
	if (n > 0) {
		text[n] = '\0';
		if (path[0] != '\0' && strcmp(text, path) == 0)
			return true;
	}
	n = process_read(process_number(pid), "comm", text, sizeof(text));
	if (n < 1)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strlen(name) <= NAME_SEEN ? strcmp(text, name) == 0
	                                 : strncmp(text, name, NAME_SEEN) == 0;
}

static void tell_of(const char *pid, struct running *found)
{
	int loaded = maps_have_library(pid);

	if (loaded < 0 && (errno == ENOENT || errno == ESRCH))
		return; /* it has ended */
	found->count++;
	found->loaded += loaded > 0;
	if (loaded < 0)
		printf("running as process %s: cannot look into it: %s\n", pid, strerror(errno));
	else
		printf("running as process %s: the shim is %s\n", pid,
		       loaded ? "loaded" : "not loaded, it has to be started again for that");
}

struct running inspect_running(const char *command)
{
	char found_at[PATH_MAX], path[PATH_MAX] = "";
	const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command;
	struct running found = { 0 };
	const struct dirent *entry;
	DIR *proc = opendir("/proc");

	if (!proc || *name == '\0')
		goto out;
	if (program_find(command, found_at, sizeof(found_at)) != 0 || !realpath(found_at, path))
		path[0] = '\0';
	while ((entry = readdir(proc))) {
		pid_t pid = process_number(entry->d_name);

		if (pid && pid != getpid() && runs(entry->d_name, path, name))
			tell_of(entry->d_name, &found);
	}
out:
	if (proc)
		closedir(proc);
	return found;
}
