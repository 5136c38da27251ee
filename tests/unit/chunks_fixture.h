/* SPDX-License-Identifier: MIT */
/* A share of the test's own, and the destinations that fill its chunks. */
#ifndef RETRYBUDGET_TESTS_CHUNKS_FIXTURE_H
#define RETRYBUDGET_TESTS_CHUNKS_FIXTURE_H

#include "dest/destinations.h"
#include "region/shared.h"
#include "addresses.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[64];
static int64_t now = NS_PER_S;

static inline void set_up(void)
{
	const char *why;

	strcpy(base, "/dev/shm/retrybudget-test-XXXXXX");
	cr_assert_not_null(mkdtemp(base));
	shim_region = region_open_in(base, SCOPE_USER, "chunks", &why);
	cr_assert_null(why, "%s", why);
	shim_use(shim_region, 0);
	chunk_levels_most = REGION_LEVELS - 1; /* whatever this machine has */
}

/* -1: there is none. */
static inline int segment_of_share(void)
{
	char path[256], name[SHARE_FILE], text[SHARE_TEXT];
	struct share_link link;
	ssize_t n;

	cr_assert(share_file_name("chunks", name));
	snprintf(path, sizeof(path), "%s/retrybudget-%u/%s", base, geteuid(), name);
	n = readlink(path, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	return share_link_read(text, &link) ? link.id : -1;
}

static inline void tear_down(void)
{
	char command[160];

	for (int i = 1; i < REGION_CHUNKS; i++)
		if (shim_region->chunks[i] > 0)
			shmctl((int)shim_region->chunks[i] - 1, IPC_RMID, NULL);
	if (segment_of_share() >= 0)
		shmctl(segment_of_share(), IPC_RMID, NULL);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	cr_assert_eq(system(command), 0);
}

/* One that fails, and so is worth keeping. */
static inline struct destination *fail_at(int n)
{
	struct address address = numbered(n);
	struct name_hit hit;
	struct destination *found = destination_of(&address, &hit, now);

	count(&found->tally.attempts);
	STORE(found->budget.streak, 1);
	return found;
}

static inline int chunks_made(void)
{
	int made = 0;

	for (int i = 1; i < REGION_CHUNKS; i++)
		made += shim_region->chunks[i] != 0;
	return made;
}

static inline int fill(void)
{
	for (int i = 0; i < 3000; i++)
		fail_at(i);
	return 0;
}

/* In a child that was there before. */
static inline int in_child(int (*what)(void), int (*before)(void))
{
	int go[2], status;
	char byte;
	pid_t child;

	cr_assert_eq(pipe(go), 0);
	child = fork();
	if (child == 0) {
		close(go[1]);
		(void)!read(go[0], &byte, 1);
		_exit(what());
	}
	if (before)
		before();
	close(go[0]);
	close(go[1]);
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline int finds_all(void)
{
	for (int i = 0; i < 3000; i++)
		if (fail_at(i)->tally.attempts != 2)
			return 1;
	return 0;
}

#endif
