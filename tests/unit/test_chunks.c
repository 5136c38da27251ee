/* SPDX-License-Identifier: MIT */
/* Shares with more destinations than one chunk has room for: how they grow, alone and by many at
 * once. */
#include "chunks_fixture.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

TestSuite(chunks, .init = set_up, .fini = tear_down, .timeout = 30);

Test(chunks, an_empty_share_has_none)
{
	fail_at(1);
	cr_expect_eq(chunks_made(), 0);
	cr_expect_eq(shim_region->levels, 0);
}

/* Bytes of a segment that are there, as the kernel counts them; -1: it does not tell. */
static long there(int segment)
{
	FILE *list = fopen("/proc/sysvipc/shm", "re");
	long bytes, found = -1;
	char line[512];
	int id;

	while (list && fgets(line, sizeof(line), list))
		if (sscanf(line, "%*d %d %*o %*u %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %ld", &id,
		           &bytes) == 2 &&
		    id == segment)
			found = bytes;
	if (list)
		fclose(list);
	return found;
}

/* Of its two and a half million bytes no page is there before it is used. */
Test(chunks, a_share_takes_no_more_memory_than_it_uses)
{
	const long page = sysconf(_SC_PAGESIZE);
	const long each = (long)sizeof(struct destination) / page + 2;
	long empty = there(segment_of_share()), one;

	cr_expect_leq(sizeof(struct destination), 5 * 1024, "libretrybudget(7) says 5 KB");
	if (empty < 0)
		cr_skip_test("no /proc/sysvipc");
	cr_expect_leq(empty, greater(16384, 4 * page), "%ld bytes when empty", empty);
	fail_at(1);
	one = there(segment_of_share());
	cr_expect_leq(one - empty, (each + 2) * page, "%ld bytes for one", one - empty);
	for (int i = 2; i <= 100; i++)
		fail_at(i);
	cr_expect_gt(there(segment_of_share()), one, "it is counted");
	cr_expect_leq(there(segment_of_share()) - empty, (100 * each + 2) * page);
	cr_expect_eq(chunks_made(), 0);
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

/* `make check-death` asks for 65,536: 300 MB. */
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

	shim_use(region_open(SCOPE_PROCESS, "chunks", &why), 0);
	*(struct segment_rights *)(uintptr_t)share_rights() = (struct segment_rights) { 0 };
	for (int i = 0; i < 2000; i++)
		fail_at(i);
	cr_expect_eq(chunks_made(), 0);
	cr_expect_gt(shim_region->tally.evicted, 0);
	shim_use(share, 0);
}

/* 1: what is mapped there stays out of core dumps, 0: it does not, -1: the kernel does not tell. */
static int is_hidden(const void *at)
{
	FILE *list = fopen("/proc/self/smaps", "re");
	bool is_here = false;
	int hidden = -1;
	char line[4096];

	while (list && fgets(line, sizeof(line), list)) {
		uintptr_t from, to;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
			is_here = (uintptr_t)at >= from && (uintptr_t)at < to;
		else if (is_here && strncmp(line, "VmFlags:", 8) == 0)
			hidden = strstr(line, " dd") != NULL;
	}
	if (list)
		fclose(list);
	return hidden;
}

/* The kernel would make every page of it for that: 2.5 MB of each program, and for ever of a share,
 * with the names that other programs ask for. */
Test(chunks, a_core_dump_has_none_of_it)
{
	const char *why;
	int seen = 0;

	if (is_hidden(shim_region) < 0)
		cr_skip_test("the kernel does not tell");
	cr_expect_eq(is_hidden(shim_region), 1, "made");
	cr_expect_eq(is_hidden(region_open(SCOPE_PROCESS, "chunks", &why)), 1, "of one process");
	cr_expect_eq(is_hidden(region_open_in(base, SCOPE_USER, "chunks", &why)), 1, "found");
	fill();
	for (uint32_t i = 1; i < REGION_CHUNKS; i++)
		if (chunk_views[i].at) {
			cr_expect_eq(is_hidden(chunk_views[i].at), 1, "chunk %u", i);
			seen++;
		}
	cr_expect_gt(seen, 0);
	for (int i = 1; i < REGION_CHUNKS; i++)
		chunk_views[i].at = NULL; /* as in a member that came before it grew */
	for (uint32_t i = 1; i < REGION_CHUNKS; i++)
		if (chunk_reach(shim_region, i))
			cr_expect_eq(is_hidden(chunk_views[i].at), 1, "chunk %u, found", i);
}

Test(chunks, another_process_finds_what_was_made_since)
{
	cr_assert_eq(in_child(finds_all, fill), 0, "the region was empty when it began");
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

/* With a chunk half made: nobody waits for it. */
Test(chunks, makers_that_stand_still, .timeout = 60)
{
	enum { STOPPED = 40 };
	pid_t stopped[STOPPED];
	uint64_t dice = 4712;

	for (int i = 0; i < STOPPED; i++) {
		stopped[i] = fork();
		cr_assert_geq(stopped[i], 0);
		if (stopped[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			claim_all((void *)(intptr_t)i);
			pause();
		}
		dice = dice * 6364136223846793005u + 1442695040888963407u;
		usleep((useconds_t)(dice >> 33) % 2000);
		kill(stopped[i], SIGSTOP);
	}
	claim_all(NULL);
	for (int i = 0; i < NAMES; i++)
		cr_assert_geq(fail_at(i)->tally.attempts, 2, "%d", i);
	for (int i = 0; i < STOPPED; i++)
		kill(stopped[i], SIGKILL);
	while (wait(NULL) > 0)
		continue;
	cr_expect_eq(in_child(finds_all, NULL), 1, "it can be read, counted further than that");
}

/* The machine gives no more segments once there are two. */
Test(chunks, a_share_that_cannot_grow_goes_on)
{
	uint64_t faults;
	FILE *limit;

	tear_down();
	if (unshare(CLONE_NEWIPC) != 0 || !(limit = fopen("/proc/sys/kernel/shmmni", "we")))
		cr_skip_test("needs a namespace of its own");
	cr_assert(fputs("2", limit) >= 0 && fclose(limit) == 0);
	set_up();
	faults = shim_region->faults;
	for (int i = 0; i < 6000; i++)
		cr_assert_not_null(fail_at(i));
	cr_expect_eq(chunks_made(), 1);
	cr_expect_gt(shim_region->faults, faults, "it is counted");
	/* What came last is there. */
	cr_expect_eq(fail_at(5999)->tally.attempts, 2);
	limit = fopen("/proc/sys/kernel/shmmni", "we");
	cr_assert(limit && fputs("4096", limit) >= 0 && fclose(limit) == 0);
	now += 60 * NS_PER_S;
	fill();
	cr_expect_gt(chunks_made(), 1, "it grows again");
}
