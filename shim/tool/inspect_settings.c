/* SPDX-License-Identifier: MIT */
/* Which configuration and mode a process has: as its region says, and what it was started with,
 * which goes over the file. */
#include "tool/inspect_settings.h"

#include "tool/stat_text.h"
#include "sys/text.h"

#include <stdlib.h>
#include <string.h>

#define OURS "RETRYBUDGET"

static void visit(struct family *family, struct snapshot *snapshot, void *arg)
{
	(void)arg;
	if (snapshot->state == SNAPSHOT_GOOD)
		stat_print_identity(stdout, family);
	else
		printf("its mode is not known: the process %s\n", snapshot_sentence(snapshot));
}

/* The process may have written anything there. */
static void print_environment(pid_t pid)
{
	char file[64], *variable = NULL;
	size_t size = 0;
	FILE *all;

	(void)snprintf(file, sizeof(file), "/proc/%d/environ", (int)pid);
	all = fopen(file, "re");
	if (!all)
		return;
	while (getdelim(&variable, &size, '\0', all) > 0)
		if (begins(variable, OURS))
			printf("environment: %s\n", family_text(variable, size));
	free(variable);
	(void)fclose(all);
}

void inspect_settings(pid_t pid)
{
	size_t unreadable;

	(void)families_visit(pid, visit, NULL, &unreadable);
	print_environment(pid);
}
