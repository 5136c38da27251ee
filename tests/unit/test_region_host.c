/* SPDX-License-Identifier: MIT */
/* The region of a host: who makes it, who joins, and whose directory is not trusted. */
#include "region_fixture.h"

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

	return region && why && strstr(why, "for root, or for the group") &&
	       region->tally.attempts == 0 && region->magic == REGION_MAGIC;
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
