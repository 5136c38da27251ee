/* SPDX-License-Identifier: MIT */
/* What the name of a share's file says, and which share a word means. */
#include "region/shared.h"
#include "tool/share_name.c"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct share read_one(const char *file)
{
	struct share share = { .owner = "host", .is_host = true };

	cr_assert(share_name_read(file, &share), "%s", file);
	return share;
}

/* Ours, with another network namespace in it. */
static void name_elsewhere(const char *name, uint64_t network, char file[SHARE_FILE])
{
	const char *rest;

	cr_assert(share_file_name(name, file));
	rest = strchr(strchr(file, '+') + 1, '+');
	cr_assert(snprintf(file, SHARE_FILE, "%s-v%c+%ju%s", name, REGION_LAYOUT,
	                   (uintmax_t)network, rest ? strdupa(rest) : "") < (int)SHARE_FILE);
}

Test(share_name, ours_is_meant_without_a_number)
{
	char file[SHARE_FILE], label[SHARE_LABEL], numbered[SHARE_LABEL + 24];
	struct share share;

	cr_assert(share_file_name("web-v1", file));
	share = read_one(file);
	share_label(&share, label);
	cr_expect_str_eq(label, "host/web-v1");
	cr_expect_str_eq(share.name, "web-v1");
	cr_expect_eq(share.layout, REGION_LAYOUT);
	cr_expect(!share.is_elsewhere && share.network > 1);
	cr_expect(share_is(&share, label) && share_is(&share, "web-v1"));
	snprintf(numbered, sizeof(numbered), "%s+%ju", label, (uintmax_t)share.network);
	cr_expect(share_is(&share, numbered), "its number is no mistake");
	cr_expect(!share_is(&share, "host/web-v") && !share_is(&share, "web-v11"));
}

Test(share_name, of_another_network_namespace_the_number_is_meant)
{
	static const char *const others[] = { "web",      "host/web",  "web+122", "web+",
		                              "web+123x", "web+123+4", "we+123" };
	char file[SHARE_FILE], label[SHARE_LABEL];
	struct share share;

	name_elsewhere("web", 123, file);
	share = read_one(file);
	share_label(&share, label);
	cr_expect_str_eq(label, "host/web+123");
	cr_expect(share.is_elsewhere && share.network == 123);
	cr_expect(share_is(&share, label) && share_is(&share, "web+123"));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		cr_expect_not(share_is(&share, others[i]), "%s", others[i]);
}

Test(share_name, what_no_library_writes_is_none)
{
	static const char *const none[] = { "",         "web",         "web-v",      "-vA+123",
		                            "web-vA+",  "web-vA+x",    "web-vA+1x",  "web-vA+1+",
		                            "web-vA++", "web-vA+1+2+", "web-vA+1+2", ".web-vA+1" };
	struct share share = { 0 };

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		cr_expect_not(share_name_read(none[i], &share), "%s", none[i]);
}
