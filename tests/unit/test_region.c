/* SPDX-License-Identifier: MIT */
/* The shared region: who shares it, and what it outlives. */
#include "region_fixture.h"

#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <time.h>

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

/* What is at an address here is somebody else there. */
static bool is_alone_in_a_network(void)
{
	const char *why;
	struct region *region;

	if (unshare(CLONE_NEWNET) != 0)
		return true;
	region = user_region(&why);
	return region && !why && region->tally.attempts == 0 && share_is_here();
}

static bool has_no_proc(void)
{
	const char *why;
	struct region *region;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/proc", "tmpfs", 0, NULL) != 0)
		return true;
	region = user_region(&why);
	return region && !why && region->tally.attempts == 0 && share_is_here();
}

Test(region, a_network_namespace_has_regions_of_its_own)
{
	const char *why;
	struct region *region;

	make_base(geteuid());
	region = user_region(&why);
	count(&region->tally.attempts);
	cr_assert(in_child(sees_count_of_user_region, 0));
	cr_assert(in_child(is_alone_in_a_network, 0));
	cr_assert(in_child(has_no_proc, 0), "who does not know his shares with none who does");
	cr_expect_eq(region->tally.attempts, 1);
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
