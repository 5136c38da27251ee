/* SPDX-License-Identifier: MIT */
/* For probes that tell the shim's own numbers in lines that begin with '#' (tallies.h). */
#ifndef RETRYBUDGET_TESTS_PROBE_TOLD_H
#define RETRYBUDGET_TESTS_PROBE_TOLD_H

#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number that the probe told of itself (tallies.h); -1: it did not. */
static inline long told(const struct result *result, const char *who, const char *what)
{
	char start[32], name[32];

	snprintf(start, sizeof(start), "# %s: ", who);
	snprintf(name, sizeof(name), " %s=", what);
	for (const char *line = result->out; (line = strstr(line, start)) != NULL; line++) {
		const char *end = strchr(line, '\n'), *at = strstr(line, name);

		if (at != NULL && (end == NULL || at < end))
			return atol(at + strlen(name));
	}
	return -1;
}

/* The lines that must be the same bare and under the shim. */
static inline const char *plain(const struct result *result)
{
	static char text[2][sizeof(result->out)];
	static int turn;
	char *out = text[turn++ & 1];
	const char *line = result->out;

	out[0] = '\0';
	while (*line != '\0') {
		size_t length = strcspn(line, "\n");

		length += line[length] == '\n';
		if (*line != '#')
			strncat(out, line, length);
		line += length;
	}
	return out;
}

/* Runs the probe bare and enforced: it must end well and print the same. */
static inline const struct result *both_ways(const struct probe *probe)
{
	static struct result bare, held;

	run_probe(probe, BARE, &bare);
	if (bare.exited && bare.code == 77)
		cr_skip_test("%s: this machine cannot run it", probe->program);
	cr_assert(bare.exited && bare.code == 0, "%s%s", bare.out, bare.err);
	run_probe(probe, ENFORCE, &held);
	cr_assert(held.exited && held.code == 0, "%s%s", held.out, held.err);
	cr_expect_str_eq(plain(&held), plain(&bare));
	cr_expect_str_eq(held.err, "");
	return &held;
}

#endif
