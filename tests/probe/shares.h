/* SPDX-License-Identifier: MIT */
/* Where the share of a user is, for tests that are not linked with what makes it. */
#ifndef RETRYBUDGET_TESTS_PROBE_SHARES_H
#define RETRYBUDGET_TESTS_PROBE_SHARES_H

#include "region/shared.h"

#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

/* The name of its link: see share_file_name(). */
static inline void share_find(const char *share, char *path, size_t size)
{
	struct stat network = { .st_ino = SHARE_SPACE_UNKNOWN },
		    space = { .st_ino = SHARE_SPACE_OF_MACHINE };
	char added[64] = "";

	if (stat("/proc/self/ns/net", &network) == 0)
		snprintf(added, sizeof(added), "+%ju", (uintmax_t)network.st_ino);
	if (stat("/proc/self/ns/ipc", &space) == 0 && space.st_ino != SHARE_SPACE_OF_MACHINE)
		snprintf(added + strlen(added), sizeof(added) - strlen(added), "+%ju",
		         (uintmax_t)space.st_ino);
	snprintf(path, size, "/dev/shm/retrybudget-%u/%s-v%c%s", geteuid(), share, REGION_LAYOUT,
	         added);
}

/* The number of its segment, -1 if there is none. */
static inline int share_segment(const char *path)
{
	char text[SHARE_TEXT];
	ssize_t n = readlink(path, text, sizeof(text) - 1);
	int id;

	text[n < 0 ? 0 : n] = '\0';
	return sscanf(text, "retrybudget:%d:", &id) == 1 ? id : -1;
}

/* Takes it away, whatever has become of it. */
static inline void share_discard(const char *share)
{
	char path[256];
	int id;

	share_find(share, path, sizeof(path));
	id = share_segment(path);
	if (id >= 0)
		shmctl(id, IPC_RMID, NULL);
	(void)remove(path);
}

#endif
