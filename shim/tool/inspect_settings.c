/* SPDX-License-Identifier: MIT */
/* Which configuration and mode a process has, as its region says. */
#include "tool/inspect.h"
#include "tool/stat.h"

static void visit(struct family *family, struct snapshot *snapshot, void *arg)
{
	(void)arg;
	if (snapshot->state == SNAPSHOT_GOOD)
		stat_print_identity(stdout, family);
	else
		printf("its mode is not known: the process %s\n", snapshot_sentence(snapshot));
}

void inspect_settings(pid_t pid)
{
	size_t unreadable;

	(void)families_visit(pid, visit, NULL, &unreadable);
}
