/* SPDX-License-Identifier: MIT */
/* Hosts with hardly any room, and configurations that are no good: the program runs on. */
#include "run.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT(last) "first: ECONNREFUSED\nlast: ECONNREFUSED, " last "\nhealthy: works, closed: 0\n"

TestSuite(cramped, .fini = discard_scratch);

static const struct result *cramped(const char *kind, const char *log)
{
	return expect(&(struct probe) { .program = "cramped",
	                                .arguments = { kind },
	                                .policy = GATE_SHUT("1s"),
	                                .log = log },
	              TEXT("at once"), TEXT("whole"));
}

#define TRACED "target = syslog\ntrace = 8\nattempts = on\ninterval = 0\n"

Test(cramped, one_descriptor_left)
{
	cramped("limit", NULL);
}

Test(cramped, one_descriptor_left_traced)
{
	cramped("limit", TRACED);
}

Test(cramped, no_standard_streams)
{
	const struct result *result = cramped("closed", NULL);

	cr_expect_geq(records_with(result, "event=attempt"), 3, "%s", result->records);
}

Test(cramped, no_standard_streams_and_records_to_stderr)
{
	cramped("closed", "target = stderr\nattempts = on\ninterval = 0\n");
}

Test(cramped, stack_of_16_kib)
{
	cramped("thread", NULL);
}

Test(cramped, stack_of_16_kib_traced)
{
	const struct result *result = cramped("thread", TRACED);

	cr_expect_geq(records_with(result, "event=attempt"), 3, "%s", result->records);
}

Test(cramped, signal_handler_on_8_kib)
{
	cramped("handler", NULL);
}

Test(cramped, signal_handler_on_8_kib_traced)
{
	cramped("handler", TRACED);
}

Test(cramped, empty_root_directory)
{
	cramped("chroot", NULL);
}

Test(cramped, empty_root_directory_traced)
{
	cramped("chroot", TRACED);
}

Test(cramped, privileges_dropped)
{
	const struct result *result = cramped("drop", NULL);

	cr_expect_geq(records_with(result, "event=attempt"), 3, "%s", result->records);
}

Test(cramped, environment_of_a_set_uid_program)
{
	/* A port each; nobody may write to this configuration. */
	static const char plain[] =
	    "plain: AT_SECURE 0, ECONNREFUSED, then ECONNREFUSED, at once\n"
	    "set-uid: AT_SECURE 1, ECONNREFUSED, then ECONNREFUSED, at once\n"
	    "shares a budget: no\n";
	static const char held[] = "plain: AT_SECURE 0, ECONNREFUSED, then ECONNREFUSED, at once\n"
				   "set-uid: AT_SECURE 1, ECONNREFUSED, then ECONNREFUSED, whole\n"
				   "shares a budget: no\n";

	expect(&(struct probe) { .program = "secure",
	                         .policy = GATE_SHUT("1s"),
	                         .general = "scope = user\nshare = test-secure" },
	       plain, held);
	output_of("rm -rf /dev/shm/retrybudget-65534");
}

/* Whatever stands where the configuration should be, the program runs and says nothing. */
static void unusable(const char *path)
{
	static struct result result;
	struct probe probe = { .program = "healthy", .configuration = path };

	run_probe(&probe, ENFORCE, &result);
	cr_expect(result.exited && result.code == 0, "%s", path);
	cr_expect_str_eq(result.out, "bytes: 305\n", "%s", path);
	cr_expect_str_eq(result.err, "", "%s: %s", path, result.err);
}

static const char *file_of(const char *name, size_t size, const char *text)
{
	static char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", scratch(), name);
	file = fopen(path, "we");
	for (size_t n = 0; n < size; n += strlen(text))
		fputs(text, file);
	cr_assert(fclose(file) == 0);
	return path;
}

Test(cramped, unusable_configurations)
{
	const char *path;

	unusable("/nowhere/at/all.ini");
	unusable("/");
	unusable("/dev/zero");
	unusable("relative.ini");
	unusable("");
	unusable(file_of("empty.ini", 0, "x"));
	unusable(file_of("large.ini", 1 << 20, "[destination default]\n"));
	unusable(file_of("binary.ini", 4096, "\001\377\n[\002]=\033\n"));
	unusable(file_of("long.ini", 60000, "x"));
	unusable(
	    file_of("wrong.ini", 1, "[nothing]\nmode\n=\nmode = perhaps\n[log]\ntrace = -1\n"));
	path = file_of("open.ini", 1, "[retrybudget]\nmode = enforce\n");
	cr_assert(chmod(path, 0666) == 0);
	unusable(path);
	cr_assert(chmod(path, 0) == 0);
	unusable(path);
}
