/* SPDX-License-Identifier: MIT */
/* Every hooked call, with good and bad arguments, and before the shim's constructor. */
#include "run.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAST                                                                                       \
	"base = 1ms\nfactor = 1\ncap = 1ms\njitter = none\nmin = 1ms\nfloor = 1000/s\ncapacity = " \
	"1000\n"

TestSuite(calls, .fini = discard_scratch);

Test(calls, about_connections)
{
	expect_same(&(struct probe) { .program = "calls_connect", .policy = FAST });
}

Test(calls, that_carry_data)
{
	expect_same(&(struct probe) { .program = "calls_data", .policy = FAST });
}

Test(calls, about_numbers)
{
	expect_same(&(struct probe) { .program = "calls_fd", .policy = FAST });
}

Test(calls, in_batches_and_by_other_names)
{
	expect_same(&(struct probe) { .program = "calls_batch", .policy = FAST });
}

Test(calls, that_carry_datagrams)
{
	expect_same(&(struct probe) { .program = "calls_datagram", .policy = FAST "udp = on\n" });
}

Test(calls, about_numbers_by_fcntl_and_ranges)
{
	expect_same(&(struct probe) { .program = "calls_number", .policy = FAST });
}

Test(calls, about_numbers_where_there_are_few)
{
	expect_same(
	    &(struct probe) { .program = "calls_number", .arguments = { "few" }, .policy = FAST });
}

Test(calls, of_a_program_with_64_bit_times)
{
	expect_same(&(struct probe) { .program = "calls_time64", .policy = FAST });
}

Test(calls, that_look_names_up)
{
	expect_same(&(struct probe) { .program = "calls_lookup", .policy = FAST });
}

/* A hook that no probe calls would be a hook that nobody ever ran. */
Test(calls, of_every_hook_are_made)
{
	static char said[1 << 20];
	static struct result result;
	char names[65536], probes[4096];
	int n = 0;

	strcpy(said, "\n");
	snprintf(probes, sizeof(probes), "%s",
	         output_of("cd tests/probe && ls calls_*.c | sed 's/\\.c$//'"));
	for (char *name = strtok(probes, "\n"); name != NULL; name = strtok(NULL, "\n")) {
		run_probe(&(struct probe) { .program = name }, BARE, &result);
		cr_assert(strlen(said) + strlen(result.out) < sizeof(said));
		strcat(said, result.out);
	}
	snprintf(names, sizeof(names), "%s", output_of("scripts/hooks names shim/sys/hooks.def"));
	for (char *name = strtok(names, "\n"); name != NULL; name = strtok(NULL, "\n"), n++) {
		char begin[128];

		snprintf(begin, sizeof(begin), "\n%s ", name);
		cr_expect(strstr(said, begin) != NULL, "no probe calls %s", name);
	}
	cr_expect_geq(n, 41);
}

/* The same with libunwind's validation, which must not disturb either. */
Test(calls, with_call_sites_in_every_record)
{
	const char *log = "target = syslog\ntrace = 16\nattempts = on\ninterval = 0\n";

	expect_same(&(struct probe) { .program = "calls_connect", .policy = FAST, .log = log });
	expect_same(&(struct probe) { .program = "calls_fd", .policy = FAST, .log = log });
}

/* Makes a library from a probe's source. */
static const char *library_from(const char *name, const char *flags)
{
	static char path[PATH_MAX];
	char command[2 * PATH_MAX];
	const char *compiler = getenv("CC");

	snprintf(path, sizeof(path), "%s/%s.so", scratch(), name);
	snprintf(command, sizeof(command),
	         "%s -std=c11 -D_GNU_SOURCE -O1 -fno-builtin -fPIC -shared %s -o %s "
	         "tests/probe/%s.c -ldl",
	         compiler != NULL && *compiler != '\0' ? compiler : "cc", flags, path, name);
	output_of(command);
	return path;
}

static void early(const char *flags, bool first)
{
	char preload[2 * PATH_MAX];
	char all[128];
	const char *library;

	snprintf(all, sizeof(all), "-DEARLY_LIBRARY %s", flags);
	library = library_from("early", all);
	snprintf(preload, sizeof(preload), first ? "%s:%%s" : "%%s:%s", library);
	expect_same(&(struct probe) { .program = "early", .policy = FAST, .preload = preload });
}

/* A library named later is constructed earlier, while its calls already find our hooks. */
Test(calls, before_the_constructor)
{
	early("", false);
}

Test(calls, after_the_constructor_of_another_preload)
{
	early("", true);
}

Test(calls, from_an_allocator_that_starts)
{
	early("-DEARLY_MALLOC", false);
}

Test(calls, from_an_allocator_before_us)
{
	early("-DEARLY_MALLOC", true);
}

/* Allocations by the shim itself, once its constructor is over; first that the wire is live. */
Test(calls, allocate_nothing)
{
	static struct result result;
	static const char log[] = "target = syslog\ntrace = 8\nattempts = on\ninterval = 0\n";
	char preload[2 * PATH_MAX];
	struct probe probe = { .program = "tripwire",
		               .arguments = { "trip" },
		               .preload = preload,
		               .log = log,
		               .policy = "base = 1ms\ncap = 5ms\nmin = 1ms\n"
		                         "hold = 20ms\ncapacity = 3\n" };

	snprintf(preload, sizeof(preload), "%s:%%s",
	         library_from("tripwire", "-DTRIPWIRE_LIBRARY"));
	run_probe(&probe, BARE, &result);
	cr_assert_str_eq(result.out, "wire: there\ntripwire: malloc was called\n");
	probe.arguments[0] = NULL;
	expect(&probe, "wire: there\necho: 1\nattempts: done\n", NULL);
}

Test(lookups, are_throttled_and_keep_their_code, .fini = discard_scratch)
{
	struct probe probe = { .program = "lookup", .policy = GATE_SHUT("2s") };
	static struct result bare;
	static char held[sizeof(bare.out) + 64];
	const char *rest;

	run_probe(&probe, BARE, &bare);
	if (bare.exited && bare.code == 77)
		cr_skip_test("needs a mount namespace");
	rest = strstr(bare.out, "another name");
	cr_assert(rest != NULL, "%s", bare.out);
	snprintf(held, sizeof(held),
	         "first: EAI_AGAIN, at once\nagain: EAI_AGAIN, whole\nagain: EAI_AGAIN, whole\n%s",
	         rest);
	expect(&probe, bare.out, held);
}
