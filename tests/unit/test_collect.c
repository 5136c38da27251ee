/* SPDX-License-Identifier: MIT */
/* What the daemon sums over processes that it finds: what they share counts once. */
#include "agent/collect.c"
#include "tool/family.c"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "collect.test:1"

TestSuite(collect, .timeout = 60);

static struct region *map_region(void)
{
	struct region *region;
	int fd = memfd_create("retrybudget", MFD_CLOEXEC);

	cr_assert(fd >= 0 && ftruncate(fd, (off_t)sizeof(*region)) == 0);
	region = mmap(NULL, sizeof(*region), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(region, MAP_FAILED);
	close(fd);
	return region;
}

/* A child that has mapped something else of that name, in front of what it shares. */
static pid_t start_member(const struct region *shared)
{
	int ready[2];
	char byte;
	pid_t child;

	cr_assert_eq(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Mappings are listed in the order of their addresses. */
		for (int i = 0; i < 8 && (uintptr_t)map_region() > (uintptr_t)shared; i++)
			continue;
		(void)!write(ready[1], "", 1);
		pause();
		_exit(0);
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return child;
}

static int64_t attempts_at(const struct totals *totals)
{
	for (size_t i = 0; i < totals->count; i++)
		if (strcmp(totals->series[i].destination, NAME) == 0)
			return totals->series[i].values[TALLY_PLACE(attempts)];
	return -1;
}

Test(collect, a_region_counts_once_whatever_else_its_processes_have_mapped)
{
	struct region *shared = map_region();
	struct destination *one = &shared->first.destinations[3];
	struct totals totals;
	struct round round;
	pid_t members[2];

	shared->first.keys[3] = one->named = 7;
	strcpy(one->name, NAME);
	one->tally.attempts = 5;
	shared->size = sizeof(*shared);
	shared->magic = REGION_MAGIC;
	for (int i = 0; i < 2; i++)
		members[i] = start_member(shared);
	cr_assert(totals_start(&totals, 10000));
	cr_assert(collect(&totals, &round));
	cr_expect_eq(attempts_at(&totals), 5, "%d", (int)attempts_at(&totals));
	one->tally.attempts = 6;
	cr_assert(collect(&totals, &round));
	cr_expect_eq(attempts_at(&totals), 6, "%d", (int)attempts_at(&totals));
	totals_end(&totals);
	for (int i = 0; i < 2; i++) {
		kill(members[i], SIGKILL);
		waitpid(members[i], NULL, 0);
	}
}
