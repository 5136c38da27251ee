/* SPDX-License-Identifier: MIT */
/* The memory below a share: what is taken, and what is swept when everybody has left it. */
#include "region/segment.h"

#include "region/state.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

/* The first look at one would be the end of whoever looks. */
Test(segment, huge_pages_are_not_taken)
{
	const struct segment_rights rights = { geteuid(), 0, 0600 };
	const size_t size = sizeof(struct region);
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | SHM_HUGETLB | SHM_NORESERVE | 0600);
	struct shmid_ds is;
	char page[1];
	void *at;

	if (id < 0)
		cr_skip_test("needs CAP_IPC_LOCK, and a kernel with huge pages");
	cr_expect_eq(segment_map(id, size, &rights, &at), SEGMENT_DENIED);
	cr_expect_null(at);
	shmctl(id, IPC_RMID, NULL);
	id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
	cr_assert_eq(segment_map(id, size, &rights, &at), SEGMENT_GOOD);
	((struct region *)at)->magic = 1;
	cr_assert_eq(shmctl(id, IPC_STAT, &is), 0);
	cr_expect_eq(is.shm_nattch, 1, "in one piece: pieces count as processes");
	segment_drop(id, at, true);
	cr_expect_not(segment_has_pages(page, sizeof(page)),
	              "what lies behind it is not looked at");
}

/* In a namespace of its own, where nobody else loses anything. */
static bool sweeps_what_is_left_alone(void)
{
	const struct segment_rights rights = { geteuid(), 0, 0600 };
	struct shmid_ds is;
	void *kept, *left;
	int used = segment_make(SEGMENT_REGION, 4096, &rights, &kept);
	int alone = segment_make(SEGMENT_CHUNK, 4096, &rights, &left);
	int other = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	bool within, fine;

	if (used < 0 || alone < 0 || other < 0)
		return false;
	segment_drop(alone, left, false);
	segment_sweep(time(NULL) + 3500);
	within = shmctl(alone, IPC_STAT, &is) == 0;
	segment_sweep(time(NULL) + 3700);
	fine = shmctl(alone, IPC_STAT, &is) != 0 &&
	       shmctl(used, IPC_STAT, &is) == 0 && /* somebody has it */
	       shmctl(other, IPC_STAT, &is) == 0;  /* none of ours */
	return within && fine;
}

/* As a loop in a sandbox leaves them, each start one. */
static bool sweeps_many(void)
{
	enum { MADE = 100 };
	const struct segment_rights rights = { geteuid(), 0, 0600 };
	int ids[MADE], left[2] = { 0, 0 };
	struct shmid_ds is;
	void *at;

	for (int i = 0; i < MADE; i++) {
		ids[i] = segment_make(SEGMENT_REGION, 4096, &rights, &at);
		if (ids[i] < 0)
			return false;
		segment_drop(ids[i], at, false);
	}
	for (int n = 0; n < 2; n++) {
		segment_sweep(time(NULL) + 50 + 20 * n);
		for (int i = 0; i < MADE; i++)
			left[n] += shmctl(ids[i], IPC_STAT, &is) == 0;
	}
	return left[0] == MADE && left[1] == 0;
}

static bool sweeps_in_a_namespace(void)
{
	return (unshare(CLONE_NEWIPC) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWIPC) != 0) ||
	       (sweeps_what_is_left_alone() && sweeps_many());
}

Test(segment, what_is_left_alone_is_swept)
{
	cr_assert(sweeps_in_a_namespace());
}
