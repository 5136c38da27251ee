/* SPDX-License-Identifier: MIT */
/* dlopen: the caller stays the caller, and RTLD_DEEPBIND goes when it is told to. */
#include "run.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

TestSuite(load, .fini = discard_scratch);

static const char *compiler(void)
{
	const char *given = getenv("CC");

	return given != NULL && *given != '\0' ? given : "cc";
}

static void library(const char *path, const char *flags)
{
	char command[3 * PATH_MAX];

	snprintf(command, sizeof(command),
	         "%s -std=c11 -D_GNU_SOURCE -fPIC -shared %s -o %s tests/probe/calls_load.c",
	         compiler(), flags, path);
	output_of(command);
}

/* A library with a RUNPATH of its own, and one that only this leads to. */
static const char *caller(void)
{
	static char path[PATH_MAX];
	char sibling[PATH_MAX];

	snprintf(sibling, sizeof(sibling), "%s/plug", scratch());
	mkdir(sibling, 0755);
	strcat(sibling, "/libsibling.so");
	library(sibling, "-DLOAD_SIBLING");
	snprintf(path, sizeof(path), "%s/libcaller.so", scratch());
	library(path, "-DLOAD_CALLER -Wl,--enable-new-dtags,-rpath,'$ORIGIN/plug'");
	return path;
}

/* The order of preloads decides whether the caller's constructor runs before the shim's. */
static void loads(const char *order, bool strip)
{
	static struct result bare, result;
	static char held[sizeof(bare.out)];
	char preload[2 * PATH_MAX];
	char configuration[PATH_MAX];
	struct probe probe = { .program = "calls_load", .preload = preload };
	char *bound;
	FILE *file;

	snprintf(preload, sizeof(preload), order, caller());
	run_probe(&probe, BARE, &bare);
	cr_assert(strstr(bare.out, "before: found") != NULL, "%s", bare.out);
	cr_assert(strstr(bare.out, "by RUNPATH: found") != NULL, "%s", bare.out);
	cr_assert(strstr(bare.out, "by $ORIGIN: found") != NULL, "%s", bare.out);
	bound = strstr(bare.out, "who: itself");
	cr_assert(bound != NULL, "RTLD_DEEPBIND does nothing here: %s", bare.out);
	if (!strip) {
		expect_same(&probe);
		return;
	}
	snprintf(configuration, sizeof(configuration), "%s/strip.ini", scratch());
	file = fopen(configuration, "we");
	cr_assert(file != NULL && fputs("[retrybudget]\ndeepbind = strip\n", file) >= 0);
	fclose(file);
	probe.configuration = configuration;
	snprintf(held, sizeof(held), "%.*swho: the preload%s", (int)(bound - bare.out), bare.out,
	         bound + strlen("who: itself"));
	run_probe(&probe, ENFORCE, &result);
	cr_expect_str_eq(result.out, held, "%s", result.out);
	cr_expect_eq(result.code, 0);
}

Test(load, before_the_constructor)
{
	loads("%%s:%s", false);
}

Test(load, after_the_constructor)
{
	loads("%s:%%s", false);
}

/* Both orders again, with the flag taken out: nothing but that may change. */
Test(load, without_deepbind)
{
	loads("%%s:%s", true);
	loads("%s:%%s", true);
}

/* The hook and the table of real functions alone, at every level of optimisation: nothing resolves
 * the table, so this is how it is before the constructor, and the hook must still end in a jump. */
Test(load, at_every_level_of_optimisation)
{
	static const char *const levels[] = {
		"-O0", "-O1", "-Og", "-O2", "-O3", "-Os", "-O2 -fno-optimize-sibling-calls"
	};
	static struct result bare, result;
	char preload[3 * PATH_MAX], command[3 * PATH_MAX];
	struct probe probe = { .program = "calls_load", .preload = preload };
	const char *library = caller();

	snprintf(preload, sizeof(preload), "%%s:%s", library);
	run_probe(&probe, BARE, &bare);
	cr_assert(strstr(bare.out, "by RUNPATH: found") != NULL, "%s", bare.out);
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		snprintf(command, sizeof(command),
		         "%s %s -std=c11 -D_GNU_SOURCE -U_FORTIFY_SOURCE -fPIC -shared -Ishim "
		         "-o %s/hook.so shim/sys/real.c shim/hook/load.c",
		         compiler(), levels[i], scratch());
		output_of(command);
		snprintf(preload, sizeof(preload), "%s/hook.so:%s", scratch(), library);
		run_probe(&probe, ENFORCE, &result);
		cr_expect_str_eq(result.out, bare.out, "%s: %s", levels[i], result.out);
	}
}
