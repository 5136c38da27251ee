/* SPDX-License-Identifier: MIT */
/* What the kernel says a process has mapped. */
#include "tool/maps.c"

#include <criterion/criterion.h>
#include <string.h>

static enum mapping_kind kind(const char *mode, const char *name)
{
	struct mapping mapping;
	char line[512];

	snprintf(line, sizeof(line), "7f0000000000-7f00001a0000 %s 00000000 00:1a 4711 %s%s", mode,
	         "                  ", name);
	memset(&mapping, 0x5a, sizeof(mapping));
	cr_assert(mapping_parse(line, &mapping), "%s", line);
	cr_assert_eq(mapping.from, 0x7f0000000000);
	cr_assert_eq(mapping.to, 0x7f00001a0000);
	cr_assert_eq(mapping.major, 0);
	cr_assert_eq(mapping.minor, 0x1a);
	cr_assert_eq(mapping.inode, 4711);
	cr_assert_eq(mapping.space, 0);
	return mapping.kind;
}

Test(maps, regions_by_their_names)
{
	cr_expect_eq(kind("rw-s", "/memfd:retrybudget (deleted)"), MAPPING_OWN);
	cr_expect_eq(kind("rw-p", "/memfd:retrybudget (deleted)"), MAPPING_OTHER);
	cr_expect_eq(kind("rw-s", "/memfd:retrybudget"), MAPPING_OTHER);
	cr_expect_eq(kind("rw-s", "/memfd:retrybudget2 (deleted)"), MAPPING_OTHER);
	cr_expect_eq(kind("rw-s", "/SYSV72620001 (deleted)"), MAPPING_SHARED);
	cr_expect_eq(kind("rw-s", "/SYSV7262ffff (deleted)"), MAPPING_SHARED);
	cr_expect_eq(kind("rw-s", "/SYSV7263abcd (deleted)"), MAPPING_CHUNK);
	cr_expect_eq(kind("rw-s", "/SYSV00000000 (deleted)"), MAPPING_OTHER);
	cr_expect_eq(kind("rw-s", "/SYSV72620001"), MAPPING_OTHER);
	cr_expect_eq(kind("rw-s", "/SYSV7262000 (deleted)"), MAPPING_OTHER);
	cr_expect_eq(kind("rw-s", "/SYSV7262000g (deleted)"), MAPPING_OTHER);
	cr_expect_eq(kind("rw-p", "/SYSV72620001 (deleted)"), MAPPING_OTHER);
	cr_expect_eq(kind("rw-s", "/dev/shm/retrybudget/web-v5 (deleted)"), MAPPING_OTHER);
	cr_expect_eq(kind("rw-s", ""), MAPPING_OTHER);
	cr_expect_eq(kind("rw-s", "/"), MAPPING_OTHER);
}

Test(maps, the_library_by_its_code)
{
	cr_expect_eq(kind("r-xp", "/usr/lib/libretrybudget.so"), MAPPING_LIBRARY);
	cr_expect_eq(kind("r-xp", "/a b/libretrybudget.so (deleted)"), MAPPING_LIBRARY);
	cr_expect_eq(kind("r--p", "/usr/lib/libretrybudget.so"), MAPPING_OTHER);
	cr_expect_eq(kind("r-xp", "/usr/lib/libretrybudget.so.bak"), MAPPING_OTHER);
	cr_expect_eq(kind("r-xp", "libretrybudget.so"), MAPPING_OTHER);
}

Test(maps, a_piece_of_a_region_is_none)
{
	struct mapping mapping;

	cr_assert(mapping_parse("1000-2000 rw-s 00001000 00:01 5 /memfd:retrybudget (deleted)",
	                        &mapping));
	cr_expect_eq(mapping.kind, MAPPING_OTHER);
}

Test(maps, other_lines_are_none)
{
	static const char *const lines[] = {
		"",
		"x",
		"1000",
		"1000-",
		"1000-2000",
		"1000-2000 rw",
		"1000-2000 rw-s ",
		"1000-2000 rw-s 0 00:",
		"-1-2000 rw-s 0 00:01 5 /a",
		"1000- 2000 rw-s 0 00:01 5 /a",
	};
	struct mapping mapping;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		cr_expect_not(mapping_parse(lines[i], &mapping), "%s", lines[i]);
}
