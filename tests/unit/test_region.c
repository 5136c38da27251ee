/* SPDX-License-Identifier: MIT */
/* The shared region: who shares it, and who cannot get in between. */
#include "region/region.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <stddef.h>
#include <unistd.h>

#define NOBODY 65534

static char base[64], directory[128], file[192];

/* A directory that stands for /dev/shm. */
static void make_base(uid_t user)
{
	strcpy(base, "/dev/shm/retrybudget-test-XXXXXX");
	cr_assert_not_null(mkdtemp(base));
	cr_assert_eq(chmod(base, 01777), 0);
	snprintf(directory, sizeof(directory), "%s/retrybudget-%u", base, user);
	snprintf(file, sizeof(file), "%s/default-vA", directory);
}

static void remove_base(void)
{
	char command[128];

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
	cr_assert_eq(memcmp(&region->destinations[REGION_DESTINATIONS - 1], &empty, sizeof(empty)),
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
			count(&region->destinations[REGION_DESTINATIONS - 1].tally.attempts);
			_exit(0);
		}
	while (wait(NULL) > 0)
		continue;
	cr_assert_eq(region->tally.attempts, 8);
	cr_assert_eq(region->destinations[REGION_DESTINATIONS - 1].tally.attempts, 8);
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

/* A file that is there has its size already, one that is not would have to grow. */
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
	       known->tally.attempts == 1 && created && why_created;
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
	cr_assert_eq(stat(file, &is), 0);
	cr_assert_eq(is.st_mode & 07777, 0600);
	cr_assert_eq(is.st_size, (off_t)sizeof(struct region));
	cr_assert(is.st_blocks * 512 >= is.st_size, "not allocated: a SIGBUS to come");
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

	cr_assert_eq(stat(file, &is), 0);
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

/* A region as it should be, to be spoilt in one way each. */
static void make_file(size_t size, mode_t mode)
{
	make_base(geteuid());
	mkdir(directory, 0700);
	int fd = open(file, O_RDWR | O_CREAT | O_EXCL, 0600);

	cr_assert(fd >= 0);
	cr_assert_eq(ftruncate(fd, (off_t)size), 0);
	fchmod(fd, mode);
	close(fd);
}

Test(region, file_is_a_symlink)
{
	char target[224];

	make_file(0, 0600);
	snprintf(target, sizeof(target), "%s.real", file);
	rename(file, target);
	cr_assert_eq(symlink(target, file), 0);
	check_falls_back("file of the shared region cannot be opened");
}

Test(region, file_has_a_second_name)
{
	char other[224];

	make_file(0, 0600);
	snprintf(other, sizeof(other), "%s/other", base);
	cr_assert_eq(link(file, other), 0);
	check_falls_back("not ours alone");
}

Test(region, file_open_to_others)
{
	make_file(0, 0660);
	check_falls_back("not ours alone");
}

Test(region, file_of_another_user)
{
	if (geteuid() != 0)
		cr_skip_test("needs root to make another user's file");
	make_file(0, 0600);
	cr_assert_eq(chown(file, NOBODY, NOBODY), 0);
	check_falls_back("not ours alone");
}

Test(region, file_is_a_fifo, .timeout = 10)
{
	make_file(0, 0600);
	unlink(file);
	cr_assert_eq(mkfifo(file, 0600), 0);
	check_falls_back("not ours alone");
}

Test(region, file_of_another_size)
{
	make_file(sizeof(struct region) - 8, 0600);
	check_falls_back("another version");
}

Test(region, file_with_another_magic)
{
	int64_t magic = REGION_MAGIC + 1;
	int fd;

	make_file(sizeof(struct region), 0600);
	fd = open(file, O_WRONLY);
	cr_assert_eq(pwrite(fd, &magic, sizeof(magic), offsetof(struct region, magic)),
	             sizeof(magic));
	close(fd);
	check_falls_back("another version");
}

Test(region, sparse_file_is_filled)
{
	const char *why;
	struct stat is;

	make_file(sizeof(struct region), 0600);
	check_new(user_region(&why));
	cr_assert_null(why);
	stat(file, &is);
	cr_assert(is.st_blocks * 512 >= is.st_size);
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
	for (int round = 0; round < 10; round++) {
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

Test(region, full_shared_memory)
{
	const char *why;
	struct region *region;

	if (geteuid() != 0)
		cr_skip_test("needs root to mount a small tmpfs");
	make_base(geteuid());
	if (mount("none", base, "tmpfs", 0, "size=128k") != 0) {
		remove_base();
		cr_skip_test("cannot mount here");
	}
	region = user_region(&why);
	cr_assert_not_null(why);
	cr_assert(strstr(why, "full") != NULL, "%s", why);
	memset((void *)region->destinations, 1, sizeof(region->destinations)); /* no SIGBUS */
	cr_assert_eq(umount(base), 0);
	remove_base();
}

/* --- the program's --- */

static struct region *host_region(const char **why)
{
	return region_open_in(base, SCOPE_HOST, "default", why);
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

/* Who may write the file may also cut it short. */
static bool is_left_out(void)
{
	const char *why;
	struct region *region = host_region(&why);

	return region && why && region->tally.attempts == 0;
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
	struct stat is;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	make_base(0);
	cr_assert(in_child(nobody_cannot_make_it, NOBODY));
	umask(077);
	region = host_region(&why);
	cr_assert_null(why, "%s", why);
	check_new(region);
	cr_assert(in_child(joins_before_it_drops_root, 0));
	cr_assert_eq(region->tally.attempts, 1);
	cr_assert(in_child(is_left_out, NOBODY));
	snprintf(directory, sizeof(directory), "%s/retrybudget", base);
	snprintf(file, sizeof(file), "%s/default-vA", directory);
	cr_assert_eq(stat(directory, &is), 0);
	cr_assert_eq(is.st_mode & 07777, 0755);
	cr_assert_eq(stat(file, &is), 0);
	cr_assert_eq(is.st_mode & 07777, 0600);
	region_open_in(base, SCOPE_HOST, "other", &why);
	cr_assert_null(why);
	remove_base();
}

static bool nobody_is_not_trusted(void)
{
	const char *why;

	if (mkdir(directory, 0755) != 0)
		return false;
	(void)host_region(&why);
	return why != NULL;
}

Test(region, host_directory_of_another_user)
{
	const char *why;

	if (geteuid() != 0)
		cr_skip_test("needs root");
	make_base(0);
	snprintf(directory, sizeof(directory), "%s/retrybudget", base);
	cr_assert(in_child(nobody_is_not_trusted, NOBODY));
	check_new(host_region(&why));
	cr_assert_not_null(why);
	cr_assert(strstr(why, "changed by others") != NULL, "%s", why);
	remove_base();
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
