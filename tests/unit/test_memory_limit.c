/* SPDX-License-Identifier: MIT */
/* What cgroups allow: of both versions, of a container that sees its own end of the path, and where
 * nothing can be read. */
#include "sys/memory_limit.h"

#include "region/state.h"
#include "sys/real.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

static char folder[] = "/tmp/cgroups-XXXXXX", own[64];

static void make(void)
{
	cr_assert(real_resolve());
	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(own, sizeof(own), "%s/own", folder);
}

static void discard(void)
{
	char command[64];

	(void)snprintf(command, sizeof(command), "rm -rf %s", folder);
	cr_assert_eq(system(command), 0);
}

TestSuite(memory_limit, .init = make, .fini = discard);

static void put(const char *name, const char *text)
{
	char command[256];

	(void)snprintf(command, sizeof(command),
	               "mkdir -p \"$(dirname %s/%s)\" && printf '%s' >%s/%s", folder, name, text,
	               folder, name);
	cr_assert_eq(system(command), 0);
}

static int64_t limit(void)
{
	return memory_limit_of(own, folder);
}

Test(memory_limit, is_the_least_on_the_way_up)
{
	put("own", "0::/system.slice/a.service\n");
	cr_expect_eq(limit(), INT64_MAX, "no limit is there");
	put("system.slice/a.service/memory.max", "max\n");
	cr_expect_eq(limit(), INT64_MAX);
	put("system.slice/memory.max", "2000000\n");
	cr_expect_eq(limit(), 2000000);
	put("system.slice/a.service/memory.max", "1000000\n");
	cr_expect_eq(limit(), 1000000);
	put("memory.max", "500000\n");
	cr_expect_eq(limit(), 500000);
}

Test(memory_limit, of_the_first_version)
{
	put("own", "9:name=systemd:/x\n4:memory:/x/y\n3:cpuset:/z\n0::/x\n");
	put("memory/x/memory.limit_in_bytes", "104857600\n");
	put("memory/x/y/memory.limit_in_bytes", "9223372036854771712\n");
	put("memory/z/memory.limit_in_bytes", "1\n");
	cr_expect_eq(limit(), 104857600);
}

Test(memory_limit, of_a_container_is_at_the_end_that_it_sees)
{
	put("own", "4:memory:/docker/0123456789\n");
	put("memory/memory.limit_in_bytes", "268435456\n");
	cr_expect_eq(limit(), 268435456);
	put("own", "0::/\n");
	put("memory.max", "134217728\n");
	cr_expect_eq(limit(), 134217728);
}

Test(memory_limit, of_what_is_no_such_file_is_none)
{
	cr_expect_eq(limit(), INT64_MAX, "there is none");
	put("own", "");
	cr_expect_eq(limit(), INT64_MAX);
	put("own", "0::\n4:memory\n:\n::::\n0::/..%%s\n\n");
	put("memory.max", "no number\n");
	cr_expect_eq(limit(), INT64_MAX);
}

Test(memory_limit, is_no_more_than_the_machine_has)
{
	struct sysinfo machine;

	cr_assert_eq(sysinfo(&machine), 0);
	cr_expect_gt(memory_limit(), 0);
	cr_expect_leq(memory_limit(), (int64_t)((uint64_t)machine.totalram * machine.mem_unit));
}
