/* SPDX-License-Identifier: MIT */
/* Regions as a reader finds them: whole, forged, cut, of other versions, of a process that ended.
 */
#include <stdio.h>

static int lists;           /* of mappings, that were opened */
static const char *list_of; /* that stands for it; NULL: the kernel's */
static long lines;          /* that were read of one */

static FILE *open_list(const char *path, const char *mode)
{
	lists++;
	return fopen(list_of ? list_of : path, mode);
}

static ssize_t read_line(char **line, size_t *room, FILE *file)
{
	lines++;
	return getline(line, room, file);
}

#define fopen   open_list
#define getline read_line
#include "tool/chunk_file.c"
#undef fopen
#undef getline
#include "tool/processes.c"
#include "tool/region_file.c"
#include "tool/snapshot.c"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

TestSuite(snapshot, .timeout = 60);

static struct region *mapped;

/* A memfd of the region's name, mapped. */
static int forge(size_t size)
{
	int fd = memfd_create("retrybudget", MFD_CLOEXEC);

	cr_assert(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
	mapped = mmap(NULL, sizeof(struct region), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(mapped, MAP_FAILED);
	return fd;
}

static void sign(struct region *region)
{
	region->magic = REGION_MAGIC;
	region->size = sizeof(struct region);
}

static struct destination *put_slot(struct region *region, int slot, const char *name)
{
	struct destination *one = &region->first.destinations[slot];

	region->first.keys[slot] = one->named = 2 * slot + 1;
	strncpy(one->name, name, sizeof(one->name));
	return one;
}

static enum snapshot_state look_at_self(struct snapshot *out)
{
	struct processes found;

	cr_assert(processes_find(&found, getpid()));
	cr_assert_eq(found.count, 1);
	snapshot_take(&found.list[0], NULL, out);
	processes_free(&found);
	return out->state;
}

static bool is_second(const struct snapshot *so_far, uint32_t slot, const struct destination *one,
                      void *seen)
{
	cr_expect_eq(so_far->state, SNAPSHOT_GOOD, "the head has been read");
	cr_expect_str_eq(so_far->region->identity.program, "maker");
	cr_expect_eq(slot + 1, (uint32_t)one->name[0] - '0');
	*(int *)seen += 1;
	return slot == 1;
}

Test(snapshot, keeps_what_is_chosen)
{
	int seen = 0;
	const struct snapshot_choice choice = { is_second, &seen };
	struct snapshot snapshot;
	struct processes found;

	close(forge(sizeof(struct region)));
	sign(mapped);
	strcpy(mapped->identity.program, "maker");
	for (int i = 0; i < 3; i++)
		put_slot(mapped, i, (const char *[]) { "1:1", "2:1", "3:1" }[i]);
	cr_assert(processes_find(&found, getpid()));
	snapshot_take(&found.list[0], &choice, &snapshot);
	processes_free(&found);
	cr_expect_eq(snapshot.state, SNAPSHOT_GOOD);
	cr_expect_eq(seen, 3);
	cr_assert_eq(snapshot.slot_count, 1);
	cr_expect_eq(snapshot.slots[0], 1);
	cr_expect_str_eq(snapshot.destinations[0].name, "2:1");
}

static bool is_of_the_last(const struct snapshot *so_far, uint32_t slot,
                           const struct destination *one, void *last)
{
	(void)slot;
	(void)one;
	cr_expect_eq(so_far->mapping, *(const int *)last);
	return true;
}

/* Whoever chooses tells regions apart by their mapping, and finds chunks by its namespace. */
Test(snapshot, says_which_mapping_it_reads)
{
	struct region *of[2];
	struct snapshot snapshot;
	struct processes found;
	int last = 1;
	const struct snapshot_choice choice = { is_of_the_last, &last };

	for (int i = 0; i < 2; i++) {
		close(forge(sizeof(struct region)));
		sign(mapped);
		put_slot(mapped, 0, "1:1");
		of[i] = mapped;
	}
	cr_assert(processes_find(&found, getpid()));
	cr_assert_eq(found.list[0].region_count, 2);
	/* The one that is looked at first is none. */
	of[(uintptr_t)of[0] != found.list[0].regions[0].from]->magic = 0;
	snapshot_take(&found.list[0], &choice, &snapshot);
	processes_free(&found);
	cr_expect_eq(snapshot.state, SNAPSHOT_GOOD);
	cr_expect_eq(snapshot.mapping, last);
	cr_expect_eq(snapshot.slot_count, 1);
}

Test(snapshot, of_a_region)
{
	struct snapshot snapshot;
	struct destination *one;

	close(forge(sizeof(struct region)));
	sign(mapped);
	one = put_slot(mapped, 5, "db.internal:5432");
	one->tally.attempts = 7;
	put_slot(mapped, 511, "b:1");
	put_slot(mapped, 6, "being given to another");
	mapped->first.keys[6] = 8;
	put_slot(mapped, 7, "not named yet")->named = 0;
	mapped->tally.attempts = 2;
	mapped->tallies[0].tally.attempts = 3;
	mapped->tallies[REGION_TALLIES - 2].tally.attempts = 4;
	cr_assert_eq(look_at_self(&snapshot), SNAPSHOT_GOOD);
	cr_assert_eq(snapshot.slot_count, 2);
	cr_expect_eq(snapshot.slots[0], 5);
	cr_expect_eq(snapshot.slots[1], 511);
	cr_expect_eq(snapshot.region->tally.attempts, 9);
	cr_expect_eq(snapshot.destinations[0].tally.attempts, 7);
	cr_expect_str_eq(snapshot.destinations[0].name, "db.internal:5432");
}

/* Whatever stands in it: in range, and ended. */
Test(snapshot, of_noise_in_a_region)
{
	struct snapshot snapshot;

	close(forge(sizeof(struct region)));
	memset((void *)mapped, 0xff, sizeof(struct region));
	sign(mapped);
	cr_assert_eq(look_at_self(&snapshot), SNAPSHOT_GOOD);
	cr_expect_eq(snapshot.slot_count, REGION_CHUNK);
	cr_expect_eq(snapshot.region->tally.attempts, 0);
	for (int i = 0; i < REGION_CHUNK; i++) {
		struct destination *one = &snapshot.destinations[i];

		cr_assert_eq(one->tally.waits.counts[3], 0);
		cr_assert_lt(strnlen(one->name, REGION_NAME), REGION_NAME);
	}
	cr_expect_lt(strnlen(snapshot.region->identity.program, REGION_PROGRAM), REGION_PROGRAM);
}

Test(snapshot, of_what_only_has_the_name)
{
	struct snapshot snapshot;

	close(forge(sizeof(struct region)));
	memset(mapped, 'x', sizeof(struct region));
	cr_expect_eq(look_at_self(&snapshot), SNAPSHOT_FALSE);
	sign(mapped);
	mapped->size = 8;
	cr_expect_eq(look_at_self(&snapshot), SNAPSHOT_FALSE);
}

/* To read a mapping of it would be SIGBUS. */
Test(snapshot, of_what_is_cut_short)
{
	struct snapshot snapshot;
	int fd = forge(sizeof(struct region));

	sign(mapped);
	put_slot(mapped, 500, "far");
	cr_assert_eq(ftruncate(fd, 8192), 0);
	cr_expect_eq(look_at_self(&snapshot), SNAPSHOT_FALSE);
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_expect_eq(look_at_self(&snapshot), SNAPSHOT_FALSE);
	close(fd);
}

Test(snapshot, of_another_layout)
{
	struct snapshot snapshot;
	int fd = forge(4096);

	mapped->magic = MAGIC_OF_ANY | (int64_t)'4' << LAYOUT_SHIFT;
	cr_expect_eq(look_at_self(&snapshot), SNAPSHOT_LAYOUT);
	cr_expect(strstr(snapshot_sentence(&snapshot), "layout 4") != NULL);
	mapped->magic = MAGIC_OF_ANY | INT64_C(7)
	                                   << LAYOUT_SHIFT; /* a byte no terminal should get */
	cr_expect_eq(look_at_self(&snapshot), SNAPSHOT_FALSE);
	close(fd);
}

/* A name that is printed as a region's, on a file system that may never answer. */
Test(snapshot, of_a_file_that_is_no_memory)
{
	static const char path[] = "/SYSV72620001"; /* as a segment is printed */
	struct snapshot snapshot;
	struct stat status;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		cr_skip_test("needs to make a file in /");
	cr_assert_eq(ftruncate(fd, sizeof(struct region)), 0);
	mapped = mmap(NULL, sizeof(struct region), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(mapped, MAP_FAILED);
	sign(mapped);
	cr_assert_eq(fstat(fd, &status), 0);
	unlink(path);
	if (status.st_dev == memfd_device())
		cr_skip_test("/ is memory");
	cr_expect_eq(look_at_self(&snapshot), SNAPSHOT_FALSE);
	close(fd);
}

Test(snapshot, of_a_process_that_has_ended)
{
	struct processes found;
	struct snapshot snapshot;
	pid_t child;

	close(forge(sizeof(struct region)));
	sign(mapped);
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	cr_assert(processes_find(&found, child));
	cr_assert_eq(found.count, 1);
	snapshot_take(&found.list[0], NULL, &snapshot);
	cr_expect_eq(snapshot.state, SNAPSHOT_GOOD);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	snapshot_take(&found.list[0], NULL, &snapshot);
	cr_expect_eq(snapshot.state, SNAPSHOT_GONE);
	processes_free(&found);
}

/* The number may have been given to another. */
Test(snapshot, of_another_process_of_that_number)
{
	struct processes found;
	struct snapshot snapshot;

	close(forge(sizeof(struct region)));
	sign(mapped);
	cr_assert(processes_find(&found, getpid()));
	found.list[0].started--;
	snapshot_take(&found.list[0], NULL, &snapshot);
	cr_expect_eq(snapshot.state, SNAPSHOT_GONE);
	processes_free(&found);
}

/* A region is found among all processes, and a reader of the same user without rights reads it. */
Test(snapshot, without_rights)
{
	int status;
	pid_t child;

	if (geteuid() != 0)
		cr_skip_test("only root can give rights up");
	child = fork();
	if (child == 0) {
		struct snapshot snapshot;
		pid_t other;
		bool same;
		struct processes found;

		if (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0)
			_exit(9);
		close(forge(sizeof(struct region)));
		sign(mapped);
		put_slot(mapped, 1, "db:1");
		/* Its files in /proc are root's until the next exec. */
		other = prctl(PR_SET_DUMPABLE, 1) == 0 ? fork() : -1;
		if (other == 0) {
			pause();
			_exit(0);
		}
		if (!processes_find(&found, other) || found.count != 1)
			_exit(8);
		snapshot_take(&found.list[0], NULL, &snapshot);
		same = snapshot.state == SNAPSHOT_GOOD && snapshot.slot_count == 1;
		kill(other, SIGKILL);
		waitpid(other, NULL, 0);
		_exit(same ? 0 : 10 + (int)snapshot.state);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 0, "status %x", status);
}

/* Who maps another's file read-only must not have it written to by a stronger one. */
Test(snapshot, nothing_is_written_that_the_process_could_not_write)
{
	struct processes found;
	struct region_file file;
	int64_t word = 4711;

	close(forge(sizeof(struct region)));
	sign(mapped);
	cr_assert(processes_find(&found, getpid()));
	cr_assert_eq(region_file_open(&found.list[0], &found.list[0].regions[0], true, &file),
	             SNAPSHOT_GOOD);
	cr_expect_eq(region_file_write(&file, offsetof(struct region, steering.request), &word,
	                               sizeof(word)),
	             SNAPSHOT_GOOD);
	cr_expect_eq(mapped->steering.request, 4711);
	region_file_close(&file);
	processes_free(&found);
	cr_assert_eq(mprotect(mapped, sizeof(struct region), PROT_READ), 0);
	cr_assert(processes_find(&found, getpid()));
	cr_expect_eq(region_file_open(&found.list[0], &found.list[0].regions[0], true, &file),
	             SNAPSHOT_FALSE);
	processes_free(&found);
}

/* A region that claims chunks which are nowhere, and a process with many mappings, must not keep
 * the daemon from its watchdog. */
Test(snapshot, of_chunks_that_are_nowhere_lists_mappings_once)
{
	struct snapshot snapshot;

	close(forge(sizeof(struct region)));
	sign(mapped);
	for (int i = 1; i < REGION_CHUNKS; i++)
		mapped->chunks[i] = INT32_MAX - i;
	lists = 0;
	cr_assert_eq(look_at_self(&snapshot), SNAPSHOT_GOOD);
	cr_expect_eq(snapshot.missing, REGION_CHUNKS - 1);
	cr_expect_leq(lists, 1, "%d times", lists);
}

/* Of another namespace numbers say nothing here: they are found among what a process has mapped. */
Test(snapshot, of_chunks_that_a_process_has_mapped)
{
	const key_t key = (key_t)((uint32_t)SEGMENT_CHUNK << 16 | ((uint32_t)getpid() & 0xffff));
	struct destination *one;
	struct snapshot snapshot;
	struct chunk *chunk;
	int id = shmget(key, sizeof(*chunk), IPC_CREAT | IPC_EXCL | 0600);

	cr_assert_geq(id, 0);
	chunk = shmat(id, NULL, 0);
	(void)shmctl(id, IPC_RMID, NULL);
	cr_assert_neq(chunk, (void *)-1);
	close(forge(sizeof(struct region)));
	sign(mapped);
	mapped->nonce = chunk->nonce = 4711;
	mapped->chunks[3] = (int64_t)id + 1;
	chunk->magic = REGION_MAGIC;
	chunk->number = 3;
	one = &chunk->destinations[5];
	chunk->keys[5] = one->named = 11;
	strcpy(one->name, "in-a-chunk:80");
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(look_at_self(&snapshot), SNAPSHOT_GOOD);
		cr_assert_eq(snapshot.slot_count, 1);
		cr_expect_eq(snapshot.slots[0], 3 * REGION_CHUNK + 5);
		cr_expect_str_eq(snapshot.destinations[0].name, "in-a-chunk:80");
	}
}

/* Bytes of a segment that are in memory. */
static long resident(int id)
{
	long long key, perms, size, cpid, lpid, attached, ids[4], times[3], rss = -1;
	FILE *list = fopen("/proc/sysvipc/shm", "re");
	char line[512];
	int one;

	while (list && fgets(line, sizeof(line), list))
		if (sscanf(
			line,
			"%lld %d %llo %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld",
			&key, &one, &perms, &size, &cpid, &lpid, &attached, &ids[0], &ids[1],
			&ids[2], &ids[3], &times[0], &times[1], &times[2], &rss) == 15 &&
		    one == id)
			break;
	fclose(list);
	return (long)rss;
}

/* Who reads must not have to pay for the pages that a segment's maker never touched. */
Test(snapshot, of_a_sparse_segment_makes_no_pages)
{
	int id = shmget(IPC_PRIVATE, sizeof(struct chunk), IPC_CREAT | 0600);
	static struct destination one;
	struct region_file file;

	cr_assert_geq(id, 0);
	cr_assert_eq(region_file_of_segment(id, geteuid(), false, &file), SNAPSHOT_GOOD);
	(void)shmctl(id, IPC_RMID, NULL);
	if (file.fd < 0) {
		region_file_close(&file);
		cr_skip_test("not by an ordinary user");
	}
	for (int i = 0; i < REGION_CHUNK; i++)
		cr_assert_eq(
		    region_file_read(&file,
		                     offsetof(struct chunk, destinations) + (size_t)i * sizeof(one),
		                     &one, sizeof(one)),
		    SNAPSHOT_GOOD);
	cr_expect_eq(resident(id), 0);
	region_file_close(&file);
}

/* Names of mappings can be as long as a page: of 65,530 that is a gigabyte. */
Test(snapshot, of_mappings_with_long_names_a_part_is_read)
{
	struct process process = { .pid = getpid(), .started = 1 };
	char path[] = "/tmp/mappings-XXXXXX";
	static char line[4096];
	struct region_file file;
	FILE *long_list;

	cr_assert(close(mkstemp(path)) == 0);
	long_list = fopen(path, "w");
	memset(line, 'x', sizeof(line) - 1);
	for (int i = 0; i < 8192; i++)
		cr_assert(fprintf(long_list,
		                  "7f0000000000-7f0000001000 r--s 00000000 00:01 7 /%s\n",
		                  line) > 0);
	fclose(long_list);
	list_of = path;
	chunk_files_forget();
	cr_expect_eq(open_mapped(&process, 7, false, &file), SNAPSHOT_GONE);
	cr_expect_lt(lines, 5000, "%ld", lines);
	unlink(path);
}
