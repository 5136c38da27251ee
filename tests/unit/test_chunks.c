/* SPDX-License-Identifier: MIT */
/* Shares with more destinations than one chunk has room for: growing, by whom, and what stands in
 * the way. */
#include "dest/destinations.h"
#include "region/shared.h"
#include "addresses.h"

#include <criterion/criterion.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

/* The status of a child that ended by _exit; musl has no W_EXITCODE. */
#define ENDED_WITH(code) ((code) << 8)

static char base[64];
static int64_t now = NS_PER_S;

static void set_up(void)
{
	const char *why;

	strcpy(base, "/dev/shm/retrybudget-test-XXXXXX");
	cr_assert_not_null(mkdtemp(base));
	shim_region = region_open_in(base, SCOPE_USER, "chunks", &why);
	cr_assert_null(why, "%s", why);
	chunk_levels_most = REGION_LEVELS - 1; /* whatever this machine has */
}

static void tear_down(void)
{
	char command[160], path[256], name[SHARE_FILE], text[SHARE_TEXT];
	struct share_link link;
	ssize_t n;

	for (int i = 1; i < REGION_CHUNKS; i++)
		if (shim_region->chunks[i] > 0)
			shmctl((int)shim_region->chunks[i] - 1, IPC_RMID, NULL);
	cr_assert(share_file_name("chunks", name));
	snprintf(path, sizeof(path), "%s/retrybudget-%u/%s", base, geteuid(), name);
	n = readlink(path, text, sizeof(text) - 1);
	text[n < 0 ? 0 : n] = '\0';
	if (share_link_read(text, &link))
		shmctl(link.id, IPC_RMID, NULL);
	snprintf(command, sizeof(command), "rm -rf %s", base);
	cr_assert_eq(system(command), 0);
}

TestSuite(chunks, .init = set_up, .fini = tear_down, .timeout = 30);

/* One that fails, and so is worth keeping. */
static struct destination *fail_at(int n)
{
	struct address address = numbered(n);
	struct name_hit hit;
	struct destination *found = destination_of(&address, &hit, now);

	count(&found->tally.attempts);
	STORE(found->budget.streak, 1);
	return found;
}

static int chunks_made(void)
{
	int made = 0;

	for (int i = 1; i < REGION_CHUNKS; i++)
		made += shim_region->chunks[i] != 0;
	return made;
}

/* How often a key stands anywhere. */
static int times_of_key(int64_t key)
{
	int times = 0;

	for (uint32_t i = 0; i < REGION_CHUNKS; i++) {
		struct chunk *chunk = chunk_reach(shim_region, i);

		for (int at = 0; chunk && at < REGION_CHUNK; at++)
			times += chunk->keys[at] == key;
	}
	return times;
}

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

Test(chunks, a_sandbox_that_kills_makes_and_maps_none)
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

Test(chunks, an_empty_share_has_none)
{
	fail_at(1);
	cr_expect_eq(chunks_made(), 0);
	cr_expect_eq(shim_region->levels, 0);
}

/* What it touches is its memory: of a container of 100 MB a share of 300 MB was the end. */
Test(chunks, a_member_takes_no_more_than_a_part_of_its_memory)
{
	static const struct {
		int64_t memory;
		int levels;
	} cases[] = {
		{ 0, 0 },
		{ INT64_C(100) << 20, 0 },
		{ INT64_C(256) << 20, 1 },
		{ INT64_C(1) << 30, 3 },
		{ INT64_C(4) << 30, 5 },
		{ INT64_C(64) << 30, REGION_LEVELS - 1 },
		{ INT64_MAX, REGION_LEVELS - 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		chunks_bound(cases[i].memory);
		cr_expect_eq(chunk_levels_most, cases[i].levels, "%jd: %d",
		             (intmax_t)cases[i].memory, chunk_levels_most);
	}
	chunks_bound(INT64_C(256) << 20);
	for (int i = 0; i < 6000; i++)
		fail_at(i);
	cr_expect_eq(chunks_made(), 1);
	cr_expect_eq(shim_region->levels, 1);
	shim_region->levels = REGION_LEVELS - 1; /* by others, who may have more */
	cr_expect_eq(chunk_levels(shim_region), 1);
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
Test(chunks, a_member_with_little_room_or_locked_memory_makes_fewer)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	cr_skip_test("the sanitizers lock nothing, and need all of the space there is");
#endif
	cr_expect_eq(end_of_member(lock_a_page, 3000), ENDED_WITH(0));
	cr_expect_eq(end_of_member(limit_space, 3000), ENDED_WITH(1));
}

/* PROBE_DESTINATIONS=65536: 300 MB. */
Test(chunks, a_share_grows_and_keeps_all, .timeout = 60)
{
	const char *given = getenv("PROBE_DESTINATIONS");
	int count = given ? atoi(given) : 6000, kept = 0;

	for (int i = 0; i < count; i++)
		fail_at(i);
	for (int i = 0; i < count; i++) {
		struct destination *found = fail_at(i);
		uint32_t slot = destination_slot(found);

		kept += found->tally.attempts == 2;
		cr_assert_eq(slot_at(shim_region, slot), found);
		cr_assert_eq(destination_at(slot, (uint32_t)found->generation), found);
	}
	cr_log_info("%d of %d kept, %d chunks", kept, count, chunks_made());
	cr_expect_eq(kept, count);
	if (!given)
		cr_expect_leq(chunks_made(), 31, "no more than are needed");
}

Test(chunks, the_well_and_the_left_alone_make_room_first)
{
	struct name_hit hit;

	for (int i = 0; i < 6000; i++) {
		struct address address = numbered(i);
		struct destination *one = destination_of(&address, &hit, now);

		count(&one->tally.attempts);
		count(&one->tally.successes);
	}
	cr_expect_leq(chunks_made(), 1);
	now += 2 * NAMES_HORIZON;
	for (int i = 0; i < 300; i++)
		fail_at(10000 + i);
	cr_expect_leq(chunks_made(), 1);
}

Test(chunks, a_process_alone_has_none)
{
	const char *why;
	struct region *share = shim_region;

	shim_region = region_open(SCOPE_PROCESS, "chunks", &why);
	*(struct segment_rights *)(uintptr_t)share_rights() = (struct segment_rights) { 0 };
	for (int i = 0; i < 2000; i++)
		fail_at(i);
	cr_expect_eq(chunks_made(), 0);
	cr_expect_gt(shim_region->tally.evicted, 0);
	shim_region = share;
}

/* In a child that was there before. */
static int in_child(int (*what)(void), int (*before)(void))
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

static int fill(void)
{
	for (int i = 0; i < 3000; i++)
		fail_at(i);
	return 0;
}

static int finds_all(void)
{
	for (int i = 0; i < 3000; i++)
		if (fail_at(i)->tally.attempts != 2)
			return 1;
	return 0;
}

Test(chunks, another_process_finds_what_was_made_since)
{
	cr_assert_eq(in_child(finds_all, fill), 0, "the region was empty when it began");
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

Test(chunks, who_has_dropped_its_rights_keeps_the_first)
{
	if (geteuid() != 0)
		cr_skip_test("needs root to drop");
	cr_assert_eq(in_child(manages_as_nobody, fill), 0);
}

/* Numbers that lead to nothing, or to what is none of ours. */
Test(chunks, what_the_region_says_is_a_claim)
{
	int other = shmget(IPC_PRIVATE, sizeof(struct chunk), IPC_CREAT | 0600);
	int64_t wild[] = { 1, -1, INT64_MAX, INT32_MAX, (int64_t)other + 1 };
	char *at = shmat(other, NULL, 0);

	cr_assert_neq(at, (char *)-1);
	for (int i = 1; i < REGION_CHUNKS; i++)
		STORE(shim_region->chunks[i], wild[i % 5]);
	STORE(shim_region->levels, REGION_LEVELS - 1);
	fill();
	cr_expect_eq(finds_all(), 0, "they were made anew");
	for (size_t i = 0; i < sizeof(struct chunk); i++)
		cr_assert_eq(at[i], 0, "written at %zu", i);
	STORE(shim_region->levels, INT64_MIN);
	fail_at(1);
	STORE(shim_region->levels, 99);
	fail_at(2);
	shmdt(at);
	shmctl(other, IPC_RMID, NULL);
}

Test(chunks, a_slot_that_says_another_number_is_found_by_where_it_lies)
{
	struct destination *far = NULL;
	uint32_t slot;

	for (int i = 0; i < 3000 && (!far || destination_slot(far) < REGION_CHUNK); i++)
		far = fail_at(i);
	slot = destination_slot(far);
	cr_assert_geq(slot, REGION_CHUNK);
	for (int64_t said = -1; said < 4; said++) {
		STORE(far->slot, said * 0x7fffffff);
		cr_expect_eq(destination_slot(far), slot);
	}
}

/* --- at the same time --- */

enum { RACERS = 4, NAMES = 2000 };

static void *claim_all(void *from)
{
	for (int i = 0; i < NAMES; i++)
		fail_at((int)((intptr_t)from * 397 + i) % NAMES);
	return NULL;
}

static void expect_each_once(void)
{
	int twice = 0;

	for (uint32_t i = 0; i < REGION_CHUNKS; i++) {
		struct chunk *chunk = chunk_reach(shim_region, i);

		for (int at = 0; chunk && at < REGION_CHUNK; at++)
			if (chunk->keys[at] != 0)
				twice += times_of_key(chunk->keys[at]) != 1;
	}
	cr_expect_eq(twice, 0, "%d names lie in two places", twice);
	for (int i = 0; i < NAMES; i++)
		cr_assert_eq(fail_at(i)->tally.attempts, RACERS + 1, "%d", i);
}

Test(chunks, threads_that_grow_it_at_once)
{
	pthread_t threads[RACERS];

	for (intptr_t i = 0; i < RACERS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, claim_all, (void *)i), 0);
	for (int i = 0; i < RACERS; i++)
		pthread_join(threads[i], NULL);
	expect_each_once();
}

Test(chunks, processes_that_grow_it_at_once)
{
	for (intptr_t i = 0; i < RACERS; i++)
		if (fork() == 0) {
			claim_all((void *)i);
			_exit(0);
		}
	while (wait(NULL) > 0)
		continue;
	expect_each_once();
}

/* Killed anywhere: no chunk is lost, and what is made later is found by all. */
Test(chunks, makers_that_are_killed, .timeout = 60)
{
	uint64_t dice = 4711;

	for (int round = 0; round < 200; round++) {
		pid_t child = fork();

		cr_assert_geq(child, 0); /* kill(-1) would end everything */
		if (child == 0) {
			claim_all((void *)(intptr_t)round);
			_exit(0);
		}
		dice = dice * 6364136223846793005u + 1442695040888963407u;
		usleep((useconds_t)(dice >> 33) % 2000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	claim_all(NULL);
	for (int i = 0; i < NAMES; i++)
		cr_assert_geq(fail_at(i)->tally.attempts, 2, "%d", i);
	cr_expect_eq(in_child(finds_all, NULL), 1, "it can be read, counted further than that");
}
