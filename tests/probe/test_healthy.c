/* SPDX-License-Identifier: MIT */
/* A healthy program under strace: what the shim adds to its system calls. */
#include "run.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* What tests/README.md allows: two cheap questions about a socket; and once, who this thread is,
 * and whether the first request of all can be read. */
static bool allowed(const char *line, bool *asked_who, bool *asked_first)
{
	if (!*asked_first && strncmp(line, "rt_sigprocmask(0xffffffff", 25) == 0)
		return *asked_first = true;
	if (!*asked_who && strncmp(line, "gettid(", 7) == 0)
		return *asked_who = true;
	if (!*asked_who && strncmp(line, "getpid(", 7) == 0)
		return true;
	return strstr(line, "getsockopt(") == line &&
	       (strstr(line, "SO_COOKIE") != NULL || strstr(line, "TCP_INFO") != NULL);
}

/* The calls between the two marks, one per line, without those allowed; pointers and ports cut. */
static int traced_calls(const char *path, char *calls, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[4096];
	bool asked_who = false, asked_first = false;
	int marks = 0, extra = 0;

	cr_assert(file != NULL, "strace wrote nothing");
	*calls = '\0';
	while (fgets(line, sizeof(line), file) != NULL) {
		size_t used = strlen(calls);

		if (strstr(line, "getpriority(0x4d") != NULL ||
		    strstr(line, "getpriority(77") != NULL) {
			marks++;
			continue;
		}
		/* Of machines that have no clock which can be read without a call. */
		if (marks != 1 || strncmp(line, "clock_gettime(", 14) == 0)
			continue;
		if (allowed(line, &asked_who, &asked_first)) {
			extra++;
			continue;
		}
		line[strcspn(line, "(")] = '\0';
		snprintf(calls + used, size - used, "%s ", line);
	}
	fclose(file);
	cr_assert(marks == 2, "marks seen: %d", marks);
	return extra;
}

Test(healthy, system_calls_are_the_same, .fini = discard_scratch)
{
	static struct result result;
	static char bare[65536], shim[65536];
	char trace[PATH_MAX];
	struct probe probe = { .program = "healthy",
		               .log = "target = syslog\n",
		               .wrapper = { "strace", "-o", trace } };

	snprintf(trace, sizeof(trace), "%s/trace", scratch());
	run_probe(&probe, BARE, &result);
	if (result.code == 127)
		cr_assert_fail("strace is not installed: scripts/install-deps check");
	traced_calls(trace, bare, sizeof(bare));
	cr_expect(strstr(bare, "connect ") != NULL);
	for (enum how how = OFF; how < WAYS; how++) {
		int extra;

		run_probe(&probe, how, &result);
		cr_expect_eq(result.code, 0);
		cr_expect_str_eq(result.out, "bytes: 305\n");
		extra = traced_calls(trace, shim, sizeof(shim));
		cr_expect_str_eq(shim, bare, "%s: %s\nbare: %s", way_name(how), shim, bare);
		cr_expect(extra <= 22, "%s: %d extra calls for 10 connections", way_name(how),
		          extra);
		cr_expect_eq(records_with(&result, "kind=retry"), 0);
		cr_expect_eq(records_with(&result, "event=throttled"), 0);
	}
}
