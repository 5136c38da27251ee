/* SPDX-License-Identifier: MIT */
/* The shared region of a user: who cannot get in between. */
#include "region_fixture.h"

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
