/* SPDX-License-Identifier: MIT */
/* The shared region: who shares it, and who cannot get in between. */
#include "region/shared.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534

static char base[64], directory[128], file[256];

static void name_file(void)
{
	char name[SHARE_FILE];

	cr_assert(share_file_name("default", name));
	snprintf(file, sizeof(file), "%s/%s", directory, name);
}

/* A directory that stands for /dev/shm. */
static void make_base(uid_t user)
{
	strcpy(base, "/dev/shm/retrybudget-test-XXXXXX");
	cr_assert_not_null(mkdtemp(base));
	cr_assert_eq(chmod(base, 01777), 0);
	snprintf(directory, sizeof(directory), "%s/retrybudget-%u", base, user);
	name_file();
}

static bool of_file(struct share_link *link)
{
	char text[SHARE_TEXT];
	ssize_t n = readlink(file, text, sizeof(text) - 1);

	text[n < 0 ? 0 : n] = '\0';
	return share_link_read(text, link);
}

/* The directory, and the segments of all links in it. */
static void remove_base(void)
{
	static const char *const kinds[] = { "retrybudget", "retrybudget-0", "retrybudget-65534" };
	char command[128], folder[128];
	struct share_link link;
	struct dirent *one;
	DIR *list;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(folder, sizeof(folder), "%s/%s", base, kinds[i]);
		list = opendir(folder);
		while (list && (one = readdir(list))) {
			snprintf(file, sizeof(file), "%s/%.60s", folder, one->d_name);
			if (of_file(&link))
				shmctl(link.id, IPC_RMID, NULL);
		}
		if (list)
			closedir(list);
	}

	snprintf(command, sizeof(command), "rm -rf %s", base);
	cr_assert_eq(system(command), 0);
}

static struct region *user_region(const char **why)
{
	return region_open_in(base, SCOPE_USER, "default", why);
}

static int open_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Runs in a child, as another user if uid is not 0. True if it returned true. */
static bool in_child(bool (*what)(void), uid_t uid)
{
	int status;
	pid_t child = fork();

	if (child == 0) {
		if (uid && (setgid(uid) != 0 || setuid(uid) != 0))
			_exit(2);
		_exit(what() ? 0 : 1);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void check_new(const struct region *region)
{
	static const struct destination empty;

	cr_assert_not_null(region);
	cr_assert_eq(region->magic, REGION_MAGIC);
	cr_assert_eq(region->size, (int64_t)sizeof(struct region));
	cr_assert_eq(region->lost_records, 0);
	cr_assert_eq(memcmp(&region->first.destinations[REGION_CHUNK - 1], &empty, sizeof(empty)),
	             0);
}

Test(region, process_is_shared_by_fork)
{
	const char *why;
	int before = open_descriptors();
	struct region *region = region_open(SCOPE_PROCESS, "default", &why);

	check_new(region);
	cr_assert_null(why);
	cr_assert_eq(open_descriptors(), before);
	for (int i = 0; i < 8; i++)
		if (fork() == 0) {
			count(&region->tally.attempts);
			count(&region->first.destinations[REGION_CHUNK - 1].tally.attempts);
			_exit(0);
		}
	while (wait(NULL) > 0)
		continue;
	cr_assert_eq(region->tally.attempts, 8);
	cr_assert_eq(region->first.destinations[REGION_CHUNK - 1].tally.attempts, 8);
	cr_assert_neq(region_open(SCOPE_PROCESS, "default", &why), region);
}

static bool opens_process_without_descriptors(void)
{
	const char *why;
	struct region *region;

	for (int fd = 0; fd < 64; fd++)
		close(fd);
	region = region_open(SCOPE_PROCESS, "default", &why);
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			return false;
	return region && !why && region->magic == REGION_MAGIC;
}

Test(region, process_with_all_descriptors_closed)
{
	cr_assert(in_child(opens_process_without_descriptors, 0));
}

/* A memfd would have to grow; a segment is no file. */
static bool opens_where_files_are_small(void)
{
	struct rlimit small = { 4096, 4096 };
	struct region *process, *known, *created;
	const char *why, *why_known, *why_created;

	if (setrlimit(RLIMIT_FSIZE, &small) != 0)
		return false;
	process = region_open(SCOPE_PROCESS, "default", &why);
	known = user_region(&why_known);
	created = region_open_in(base, SCOPE_USER, "other", &why_created);
	return process && process->magic == REGION_MAGIC && !why && known && !why_known &&
	       known->tally.attempts == 1 && created && !why_created;
}

Test(region, files_may_not_grow)
{
	const char *why;
	struct region *region;

	make_base(geteuid());
	region = user_region(&why);
	count(&region->tally.attempts);
	cr_assert(in_child(opens_where_files_are_small, 0), "ended by SIGXFSZ, perhaps");
	remove_base();
}

static bool sees_count_of_user_region(void)
{
	const char *why;
	struct region *region = user_region(&why);

	return region && !why && region->tally.attempts == 1;
}

Test(region, user_is_shared_by_name)
{
	const char *why;
	struct region *region;
	struct share_link link;
	struct shmid_ds segment;
	struct stat is;

	make_base(geteuid());
	umask(0177); /* takes the directory's x and more: it is given back */
	region = user_region(&why);
	umask(022);
	cr_assert_null(why, "%s", why);
	check_new(region);
	count(&region->tally.attempts);
	cr_assert(in_child(sees_count_of_user_region, 0));
	cr_assert_eq(stat(directory, &is), 0);
	cr_assert_eq(is.st_mode & 07777, 0700);
	cr_assert(of_file(&link));
	cr_assert_eq(shmctl(link.id, IPC_STAT, &segment), 0);
	cr_assert_eq(segment.shm_perm.mode & 07777, 0600);
	cr_assert_eq(segment.shm_segsz, sizeof(struct region));
	cr_assert_eq(region_open_in(base, SCOPE_USER, "other", &why)->tally.attempts, 0);
	cr_assert_null(why);
	remove_base();
}

static bool creates_as_nobody(void)
{
	const char *why;

	return user_region(&why) && !why;
}

Test(region, users_have_regions_of_their_own)
{
	if (geteuid() != 0)
		cr_skip_test("needs root to become another user");
	make_base(NOBODY);
	cr_assert(in_child(creates_as_nobody, NOBODY));
	struct stat is;

	cr_assert_eq(lstat(file, &is), 0);
	cr_assert_eq(is.st_uid, NOBODY);
	remove_base();
}

/* Every attack ends in a usable region that is not the attacker's, and a reason. */
static void check_falls_back(const char *expected)
{
	const char *why = NULL;
	int before = open_descriptors();
	struct region *region = user_region(&why);

	cr_assert_eq(open_descriptors(), before);
	check_new(region);
	cr_assert_not_null(why);
	cr_assert(strstr(why, expected) != NULL, "%s", why);
	remove_base();
}

Test(region, directory_is_a_symlink)
{
	char elsewhere[192];

	make_base(geteuid());
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", base);
	mkdir(elsewhere, 0700);
	cr_assert_eq(symlink(elsewhere, directory), 0);
	check_falls_back("directory of the shared region cannot be opened");
}

Test(region, directory_open_to_others)
{
	make_base(geteuid());
	mkdir(directory, 0700);
	chmod(directory, 0770);
	check_falls_back("changed by others");
}

Test(region, directory_of_another_user)
{
	if (geteuid() != 0)
		cr_skip_test("needs root to make another user's directory");
	make_base(geteuid());
	mkdir(directory, 0700);
	cr_assert_eq(chown(directory, NOBODY, NOBODY), 0);
	check_falls_back("changed by others");
}

/* Something else lies where the link should. */
static void make_directory(void)
{
	make_base(geteuid());
	mkdir(directory, 0700);
}

Test(region, name_is_a_file)
{
	make_directory();
	close(open(file, O_RDWR | O_CREAT | O_EXCL, 0600));
	check_falls_back("not ours alone");
}

Test(region, name_is_a_directory)
{
	make_directory();
	mkdir(file, 0700);
	check_falls_back("not ours alone");
}

Test(region, name_is_a_fifo, .timeout = 10)
{
	make_directory();
	cr_assert_eq(mkfifo(file, 0600), 0);
	check_falls_back("not ours alone");
}

Test(region, name_of_another_user)
{
	if (geteuid() != 0)
		cr_skip_test("needs root to make another user's link");
	make_directory();
	cr_assert_eq(symlink("retrybudget:1:1", file), 0);
	cr_assert_eq(lchown(file, NOBODY, NOBODY), 0);
	check_falls_back("not ours alone");
}

/* A link that leads to none of ours is made anew, and all find the new one. */
static void check_is_made_anew(const char *text)
{
	const char *why;
	struct region *region;

	(void)!symlink(text, file);
	region = user_region(&why);
	cr_expect_null(why, "%s: %s", text, why);
	check_new(region);
	count(&region->tally.attempts);
	cr_expect(in_child(sees_count_of_user_region, 0), "%s", text);
	remove_base();
}

Test(region, links_that_lead_to_nothing)
{
	static const char *const texts[] = { "x",
		                             "/etc/passwd",
		                             "retrybudget:",
		                             "retrybudget:1",
		                             "retrybudget:2147483647:5",
		                             "retrybudget:-1:5",
		                             "retrybudget:99999999999:5",
		                             "retrybudget:1:2:3" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		make_directory();
		check_is_made_anew(texts[i]);
	}
}

/* Memory of somebody else, into which nothing must be written. */
static void lead_to(size_t size, mode_t mode, const void *bytes, size_t n)
{
	int id = shmget(IPC_PRIVATE, size, IPC_CREAT | mode);
	char text[SHARE_TEXT], *at;

	cr_assert_geq(id, 0);
	at = shmat(id, NULL, 0);
	cr_assert_neq(at, (char *)-1);
	memcpy(at, bytes, n);
	make_directory();
	share_link_text(&(struct share_link) { id, 4711 }, text);
	check_is_made_anew(text);
	cr_expect_eq(memcmp(at, bytes, n), 0);
	for (size_t i = n; i < size; i++)
		cr_assert_eq(at[i], 0, "written at %zu", i);
	shmdt(at);
	shmctl(id, IPC_RMID, NULL);
}

Test(region, segments_of_others_are_left_alone)
{
	const int64_t good[3] = { REGION_MAGIC, sizeof(struct region), 4711 };
	const int64_t other_magic[3] = { REGION_MAGIC + 1, sizeof(struct region), 4711 };
	const int64_t other_size[3] = { REGION_MAGIC, sizeof(struct region) + 8, 4711 };
	const int64_t other_nonce[3] = { REGION_MAGIC, sizeof(struct region), 4712 };

	lead_to(sizeof(struct region), 0600, "", 0);
	lead_to(sizeof(struct region) - 8, 0600, good, sizeof(good));
	lead_to(sizeof(struct region), 0660, good, sizeof(good));
	lead_to(sizeof(struct region), 0600, other_magic, sizeof(other_magic));
	lead_to(sizeof(struct region), 0600, other_size, sizeof(other_size));
	lead_to(sizeof(struct region), 0600, other_nonce, sizeof(other_nonce));
}

/* Its maker has gone, and so has everybody else: what it holds is there for the next. */
Test(region, outlives_its_processes_until_it_is_removed)
{
	struct share_link link, next;
	struct region *region;
	const char *why;

	make_base(geteuid());
	region = user_region(&why);
	count(&region->tally.attempts);
	shmdt(region);
	cr_assert(of_file(&link));
	cr_expect(in_child(sees_count_of_user_region, 0));
	shmctl(link.id, IPC_RMID, NULL);
	region = user_region(&why);
	cr_expect_null(why, "%s", why);
	cr_expect_eq(region->tally.attempts, 0);
	cr_assert(of_file(&next));
	cr_expect_neq(next.id, link.id);
	remove_base();
}

/* Whoever has it keeps it when its name and its number have gone. */
Test(region, outlives_its_name)
{
	struct share_link link;
	struct region *region;
	const char *why;

	make_base(geteuid());
	region = user_region(&why);
	cr_assert(of_file(&link));
	unlink(file);
	shmctl(link.id, IPC_RMID, NULL);
	count(&region->tally.attempts);
	cr_expect_eq(region->tally.attempts, 1);
	remove_base();
}

Test(region, share_names)
{
	static const char *const bad[] = { "",
		                           "a/b",
		                           "../x",
		                           "..",
		                           ".hidden",
		                           "a b",
		                           "a\n",
		                           "\xc3\xa4",
		                           "0123456789012345678901234567890123456789"
		                           "012345678901234567890123" };
	static const char *const good[] = { "a", "a..", "A.b_c-9",
		                            "012345678901234567890123456789012345678901234567890"
		                            "123456789012" };
	const char *why;

	make_base(geteuid());
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		check_new(region_open_in(base, SCOPE_USER, bad[i], &why));
		cr_assert_not_null(why, "%s", bad[i]);
	}
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		check_new(region_open_in(base, SCOPE_USER, good[i], &why));
		cr_assert_null(why, "%s: %s", good[i], why);
	}
	remove_base();
}

static bool counts_once(void)
{
	const char *why;
	struct region *region = user_region(&why);

	if (!region || why || region->magic != REGION_MAGIC)
		return false;
	count(&region->tally.attempts);
	return true;
}

Test(region, sixteen_makers_at_once, .timeout = 30)
{
	for (int round = 0; round < 20; round++) {
		int start[2], status, good = 0;
		const char *why;
		char byte;

		make_base(geteuid());
		cr_assert_eq(pipe(start), 0);
		for (int i = 0; i < 16; i++)
			if (fork() == 0) {
				close(start[1]);
				(void)!read(start[0], &byte, 1); /* until all are there */
				_exit(counts_once() ? 0 : 1);
			}
		close(start[0]);
		close(start[1]);
		while (wait(&status) > 0)
			good += status == 0;
		cr_assert_eq(good, 16);
		cr_assert_eq(user_region(&why)->tally.attempts, 16);
		remove_base();
	}
}

/* A link needs no room but its own. */
Test(region, full_shared_memory)
{
	const char *why;
	struct region *region;
	char filler[160];
	int fd;

	if (geteuid() != 0)
		cr_skip_test("needs root to mount a small tmpfs");
	make_base(geteuid());
	if (mount("none", base, "tmpfs", 0, "size=128k") != 0) {
		remove_base();
		cr_skip_test("cannot mount here");
	}
	snprintf(filler, sizeof(filler), "%s/filler", base);
	fd = open(filler, O_RDWR | O_CREAT, 0600);
	while (write(fd, "12345678", 8) > 0)
		continue;
	close(fd);
	region = user_region(&why);
	cr_assert_null(why, "%s", why);
	memset((void *)region->first.destinations, 1,
	       sizeof(region->first.destinations)); /* no SIGBUS */
	shmdt(region);
	cr_assert_eq(umount(base), 0);
	remove_base();
}

/* The namespace of IPC is its own, and allows no segment. */
static bool falls_back_without_segments(void)
{
	const char *why;
	struct region *region;
	FILE *limit;

	if (unshare(CLONE_NEWIPC) != 0 || !(limit = fopen("/proc/sys/kernel/shmmni", "we")))
		return true;
	if (fputs("0", limit) < 0 || fclose(limit) != 0)
		return true;
	region = user_region(&why);
	return region && why && strstr(why, "may be full") && region->faults == 1;
}

Test(region, no_segments_left)
{
	make_base(geteuid());
	cr_assert(in_child(falls_back_without_segments, 0));
	remove_base();
}

/* A container of its own sees the same directory, and shares nothing, nor takes anything away. */
static bool is_alone_in_a_container(void)
{
	const char *why;
	struct region *region;

	if (unshare(CLONE_NEWIPC) != 0)
		return true;
	region = user_region(&why);
	return region && region->tally.attempts == 0;
}

Test(region, a_container_has_regions_of_its_own)
{
	const char *why;
	struct region *region;

	make_base(geteuid());
	region = user_region(&why);
	count(&region->tally.attempts);
	cr_assert(in_child(is_alone_in_a_container, 0));
	cr_expect_eq(region->tally.attempts, 1);
	remove_base();
}

/* --- the program's --- */

static struct region *host_region(const char **why)
{
	return region_open_in(base, SCOPE_HOST, "default", why);
}

static void make_host_base(mode_t mode, gid_t group)
{
	make_base(0);
	snprintf(directory, sizeof(directory), "%s/retrybudget", base);
	name_file();
	cr_assert_eq(mkdir(directory, 0700), 0);
	cr_assert_eq(chown(directory, 0, group), 0);
	cr_assert_eq(chmod(directory, mode), 0);
}

static bool joins(void)
{
	const char *why;
	struct region *region = host_region(&why);

	if (!region || why)
		return false;
	count(&region->tally.attempts);
	return true;
}

static bool joins_before_it_drops_root(void)
{
	const char *why;
	struct region *region = host_region(&why);

	if (!region || why || setuid(NOBODY) != 0)
		return false;
	count(&region->tally.attempts);
	return true;
}

static bool is_left_out(void)
{
	const char *why;
	struct region *region = host_region(&why);

	return region && why && region->tally.attempts == 0 && region->magic == REGION_MAGIC;
}

static bool nobody_cannot_make_it(void)
{
	const char *why;
	struct region *region = host_region(&why);

	return region && why && strstr(why, "root must make it") && region->magic == REGION_MAGIC;
}

Test(region, host_is_shared_by_what_starts_as_root)
{
	const char *why;
	struct region *region;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	make_host_base(0755, 0);
	cr_assert(in_child(nobody_cannot_make_it, NOBODY));
	umask(077);
	region = host_region(&why);
	cr_assert_null(why, "%s", why);
	check_new(region);
	cr_assert(in_child(joins_before_it_drops_root, 0));
	cr_assert_eq(region->tally.attempts, 1);
	cr_assert(in_child(is_left_out, NOBODY));
	region_open_in(base, SCOPE_HOST, "other", &why);
	cr_assert_null(why);
	remove_base();
}

Test(region, host_is_shared_by_a_group)
{
	const char *why;
	struct region *region;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	make_host_base(0750, NOBODY);
	cr_assert(in_child(nobody_cannot_make_it, NOBODY));
	region = host_region(&why);
	cr_assert_null(why, "%s", why);
	cr_assert(in_child(joins, NOBODY), "who is in the group");
	cr_assert_eq(region->tally.attempts, 1);
	cr_assert(in_child(is_left_out, NOBODY - 1), "who is not");
	remove_base();
}

static bool makes_what_root_joins(void)
{
	const char *why;
	struct region *region = host_region(&why);
	struct shmid_ds is;
	struct share_link link;

	return region && !why && of_file(&link) && shmctl(link.id, IPC_STAT, &is) == 0 &&
	       is.shm_perm.cuid == NOBODY && is.shm_perm.gid == NOBODY;
}

Test(region, host_is_made_by_members_where_they_may)
{
	if (geteuid() != 0)
		cr_skip_test("needs root");
	make_host_base(02770, NOBODY);
	cr_assert(in_child(makes_what_root_joins, NOBODY));
	cr_assert(in_child(joins, 0));
	remove_base();
}

Test(region, host_needs_its_directory)
{
	const char *why;

	make_base(geteuid());
	check_new(host_region(&why));
	cr_assert_not_null(why);
	cr_assert(strstr(why, "administrator must make it") != NULL, "%s", why);
	remove_base();
}

static void check_host_is_not_trusted(mode_t mode, uid_t owner)
{
	const char *why;

	make_host_base(mode, NOBODY);
	cr_assert_eq(chown(directory, owner, NOBODY), 0);
	check_new(host_region(&why));
	cr_assert_not_null(why);
	cr_assert(strstr(why, "changed by others") != NULL, "%s", why);
	remove_base();
}

Test(region, host_directory_that_others_can_change)
{
	if (geteuid() != 0)
		cr_skip_test("needs root");
	check_host_is_not_trusted(0755, NOBODY);
	check_host_is_not_trusted(01777, 0);
	check_host_is_not_trusted(0775, 0);
}

/* What is named for this process, mapped; and whether it is the file that was named. */
static bool takes(int fd, ino_t inode, pid_t child, struct region **region)
{
	char text[96];
	const char *why;
	struct stat is;
	int64_t magic = 0;

	cr_assert_eq(fstat(fd, &is), 0);
	snprintf(text, sizeof(text), "%d:%d:%ju:%d", getpid(), fd,
	         (uintmax_t)(inode ? inode : is.st_ino), child);
	region_hand(text);
	*region = region_open(SCOPE_PROCESS, "default", &why);
	cr_assert_not_null(*region);
	if (is.st_size >= (off_t)sizeof(magic))
		cr_assert_eq(pread(fd, &magic, sizeof(magic), 0), sizeof(magic));
	return magic == REGION_MAGIC;
}

Test(region, one_that_is_handed_on_is_taken_by_whom_it_is_for)
{
	int fd = region_make_file(), open_one = memfd_create("retrybudget", 0);
	struct region *region, *again;

	cr_assert(fd >= 0 && open_one >= 0);
	cr_assert_eq(ftruncate(open_one, sizeof(struct region)), 0);
	cr_expect_not(takes(open_one, 0, getpid(), &region), "its owner can shorten it");
	cr_expect_not(takes(fd, 1, getpid(), &region), "another file has the number");
	cr_expect_not(takes(fd, 0, getpid() + 1, &region), "another process");
	cr_expect(takes(fd, 0, getpid(), &region));
	region->identity.pid = 7;
	strcpy(region->identity.program, "env");
	region->tally.attempts = 5;
	cr_expect(takes(fd, 0, getpid(), &again), "of a program that has become another");
	cr_expect_eq(again->tally.attempts, 5);
	cr_expect_eq(again->identity.pid, 0);
	cr_expect_str_eq(again->identity.program, "");
}

Test(region, what_is_handed_on_may_be_anything)
{
	static const char *const texts[] = { "",          ":",
		                             "1",         "1:2:3",
		                             "1:2:3:",    "1:2:3:4x",
		                             "-1:2:3:4",  "99999999999999999999:1:1:1",
		                             "1:2:3:4:5", "::::" };
	const char *why;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		region_hand(texts[i]);
		cr_expect_not_null(region_open(SCOPE_PROCESS, "default", &why));
		cr_expect_null(why);
	}
}
