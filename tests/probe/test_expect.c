/* SPDX-License-Identifier: MIT */
/* What a probe says one way held against what it says another way. */
#include "run.h"

#include <criterion/criterion.h>
#include <string.h>

#define CANNOT 77

int records_with(const struct result *result, const char *text)
{
	int n = 0;

	for (const char *at = result->records; (at = strstr(at, text)) != NULL; at += strlen(text))
		n++;
	return n;
}

static void hold_against(const struct probe *probe, enum how how, const struct result *result,
                         const char *wanted)
{
	const char *name = probe->program, *way = way_name(how);

	if (result->exited && result->code == CANNOT)
		cr_skip_test("%s: this machine does not allow it", name);
	cr_assert(result->exited,
	          "%s %s: ended by signal %d after %ld ms\nstdout:\n%s\nstderr:\n%s", name, way,
	          result->code, (long)result->ms, result->out, result->err);
	cr_expect(result->code == 0, "%s %s: exit code %d", name, way, result->code);
	cr_expect(strcmp(result->out, wanted) == 0, "%s %s: printed\n%s\nwanted\n%s\nrecords\n%s",
	          name, way, result->out, wanted, result->records);
	cr_expect(result->err[0] == '\0', "%s %s: stderr: %s", name, way, result->err);
	if (how == OFF || how == BARE)
		cr_expect(result->record_count == 0, "%s %s: records:\n%s", name, way,
		          result->records);
	cr_expect(records_with(result, "event=config-error") == 0, "%s", result->records);
	if (how == OBSERVE)
		cr_expect(records_with(result, "event=refused") == 0, "%s", result->records);
}

const struct result *expect(const struct probe *probe, const char *plain, const char *held)
{
	static struct result result;

	for (enum how how = BARE; how < WAYS; how++) {
		run_probe(probe, how, &result);
		hold_against(probe, how, &result, how == ENFORCE && held != NULL ? held : plain);
	}
	return &result;
}

const struct result *expect_same(const struct probe *probe)
{
	static struct result bare;

	run_probe(probe, BARE, &bare);
	cr_assert(bare.out[0] != '\0' || bare.code == CANNOT);
	return expect(probe, bare.out, NULL);
}
