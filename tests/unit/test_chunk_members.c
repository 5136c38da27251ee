/* SPDX-License-Identifier: MIT */
/* Members of a share that may not, or should not, make chunks or map them. */
#include "chunks_fixture.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define NOBODY 65534

/* The status of a child that ended by _exit; musl has no W_EXITCODE. */
#define ENDED_WITH(code) ((code) << 8)

TestSuite(chunk_members, .init = set_up, .fini = tear_down, .timeout = 30);

/* Ends the program at a call on segments. False: filters are not to be had here. */
static bool filter_segments(void)
{
	static const int calls[] = { SYS_shmget, SYS_shmat, SYS_shmctl, SYS_shmdt };
	struct sock_filter filter[2 * sizeof(calls) / sizeof(*calls) + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = { .len = 1, .filter = filter };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		filter[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
		                                                     (uint32_t)calls[i], 0, 1);
		filter[program.len++] =
		    (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* How a member ends that has done that first and then tries so many destinations: its exit status
 * is how many chunks there are. */
static int end_of_member(bool (*confine)(void), int destinations)
{
	enum { CANNOT = 200 };
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		if (!confine())
			_exit(CANNOT);
		for (int i = 0; i < destinations; i++)
			fail_at(i);
		_exit(chunks_made());
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	if (confine == filter_segments && status == ENDED_WITH(CANNOT))
		cr_skip_test("no filters here");
	cr_assert_neq(status, ENDED_WITH(CANNOT));
	return status;
}

Test(chunk_members, a_sandbox_that_kills_makes_and_maps_none)
{
	int status;

	cr_expect_eq(end_of_member(filter_segments, 2000), 0, "it would have made one");
	cr_expect_eq(chunks_made(), 0);
	cr_expect_gt(shim_region->faults, 0);
	for (int i = 0; i < 2000; i++)
		fail_at(i);
	cr_expect_gt(chunks_made(), 0);
	for (int i = 0; i < REGION_CHUNKS; i++)
		chunk_views[i].at = NULL; /* as in a member that came before it grew */
	status = end_of_member(filter_segments, 2000);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == chunks_made(),
	          "it would have mapped one");
}

static bool limit_space(void)
{
	struct rlimit limit = { 256 << 20, RLIM_INFINITY };

	return setrlimit(RLIMIT_AS, &limit) == 0;
}

static bool lock_a_page(void)
{
	static char page[4096];

	return mlock(page, sizeof(page)) == 0;
}

/* A mapping would take what they have set aside for themselves. */
Test(chunk_members, a_member_with_little_room_or_locked_memory_makes_fewer)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	cr_skip_test("the sanitizers lock nothing, and need all of the space there is");
#endif
	cr_expect_eq(end_of_member(lock_a_page, 3000), ENDED_WITH(0));
	cr_expect_eq(end_of_member(limit_space, 3000), ENDED_WITH(1));
}

/* It can neither map nor make one: it does with what it has. */
static int manages_as_nobody(void)
{
	if (setgid(NOBODY) != 0 || setuid(NOBODY) != 0)
		return 2;
	for (int i = 0; i < 3000; i++)
		if (destination_slot(fail_at(i)) >= REGION_CHUNK)
			return 1;
	return chunks_made() > 0 ? 0 : 3;
}

Test(chunk_members, who_has_dropped_its_rights_keeps_the_first)
{
	if (geteuid() != 0)
		cr_skip_test("needs root to drop");
	cr_assert_eq(in_child(manages_as_nobody, fill), 0);
}

/* To numbers of segments that mean others there. */
static bool leave_the_namespace(void)
{
	return unshare(CLONE_NEWIPC) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWIPC) == 0;
}

static int writes_none_from_elsewhere(void)
{
	if (!leave_the_namespace())
		return 200;
	fill();
	return 0;
}

/* What it made would be found by nobody else, who would make it anew in turn. */
Test(chunk_members, who_has_left_the_namespace_leaves_the_share_as_it_is)
{
	int64_t before[REGION_CHUNKS];
	int end = in_child(writes_none_from_elsewhere, NULL);

	if (end == 200)
		cr_skip_test("no namespaces here");
	cr_assert_eq(end, 0);
	cr_expect_eq(chunks_made(), 0, "it would have made one");
	fill();
	cr_assert_gt(chunks_made(), 0);
	for (int i = 0; i < REGION_CHUNKS; i++) {
		before[i] = shim_region->chunks[i];
		chunk_views[i].at = NULL; /* as in a member that came before it grew */
	}
	cr_assert_eq(in_child(writes_none_from_elsewhere, NULL), 0);
	for (int i = 1; i < REGION_CHUNKS; i++)
		cr_expect_eq(shim_region->chunks[i], before[i], "chunk %d", i);
}
