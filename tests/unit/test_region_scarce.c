/* SPDX-License-Identifier: MIT */
/* A region where descriptors, files, memory or segments are used up. */
#include "region_fixture.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

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
