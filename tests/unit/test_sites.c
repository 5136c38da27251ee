/* SPDX-License-Identifier: MIT */
/* Call sites in a region: each once, whole frames, the last first. */
#include "region/sites.h"

#include <criterion/criterion.h>
#include <string.h>

static struct destination of;

Test(sites, stand_once_and_the_last_first)
{
	cr_expect_null(site_get(&of, 0));
	site_keep(&of, "");
	cr_expect_null(site_get(&of, 0), "nothing was known");
	site_keep(&of, "legacyd+0x10");
	site_keep(&of, "legacyd+0x20");
	site_keep(&of, "legacyd+0x10");
	cr_expect_str_eq(site_get(&of, 0), "legacyd+0x20");
	cr_expect_str_eq(site_get(&of, 1), "legacyd+0x10");
	cr_expect_null(site_get(&of, 2));
	site_keep(&of, "legacyd+0x1");
	site_keep(&of, "legacyd+0x2");
	cr_expect_str_eq(site_get(&of, 0), "legacyd+0x2", "the start of another is another");
	cr_expect_str_eq(site_get(&of, 1), "legacyd+0x1");
	cr_expect_str_eq(site_get(&of, 2), "legacyd+0x20");
	cr_expect_null(site_get(&of, 3));
	cr_expect_null(site_get(&of, -1));
}

Test(sites, of_long_ones_whole_frames_stay)
{
	char frames[2 * REGION_SITE] = "", one[REGION_SITE + 10];

	for (int i = 0; i < 8; i++)
		strcat(frames, i ? ",libmodule.so.1+0x12345" : "libmodule.so.1+0x12345");
	site_keep(&of, frames);
	cr_expect_eq(strlen(site_get(&of, 0)) % 23, 22);
	cr_expect_lt(strlen(site_get(&of, 0)), REGION_SITE);
	memset(one, 'x', sizeof(one));
	one[sizeof(one) - 1] = '\0';
	site_keep(&of, one);
	cr_expect_eq(of.sited, 1, "no frame of it fits");
}

/* Shared memory may hold any number. */
Test(sites, a_forged_number_leads_nowhere_else)
{
	STORE(of.sited, -1);
	cr_expect_eq(site_get(&of, 0), of.sites[(UINT64_MAX - 1) % REGION_SITES]);
	site_keep(&of, "legacyd+0x10");
	cr_expect_eq(of.sited, 0);
}
