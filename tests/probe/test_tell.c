/* SPDX-License-Identifier: MIT */
/* That a hook not only passes a call on but tells what it means: seen in the records. */
#include "run.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAST                                                                                       \
	"base = 1ms\nfactor = 1\ncap = 1ms\njitter = none\nmin = 1ms\nfloor = 1000/s\ncapacity = " \
	"1000\n"

TestSuite(tell, .fini = discard_scratch);

/* The attempts at an address as letters, and whether it recovered. */
static void story_of(const char *line, const char *address, char *letters, bool *recovered)
{
	char mark[512];
	size_t n = (size_t)snprintf(mark, sizeof(mark), " dest=%s", address);
	const char *found;

	*recovered = false;
	while (*line != '\0') {
		size_t length = strcspn(line, "\n");
		char record[2048];

		snprintf(record, sizeof(record), "%.*s", (int)length, line);
		line += length + (line[length] == '\n');
		found = strstr(record, mark);
		if (found == NULL || (found[n] != ':' && found[n] != ' '))
			continue;
		if (strstr(record, " event=recovered ") != NULL)
			*recovered = true;
		if (strstr(record, " event=attempt ") != NULL)
			*letters++ = strstr(record, " kind=retry") != NULL ? 'r' : 'f';
	}
	*letters = '\0';
}

/* Runs a probe all ways, quietly; then again with every record on stderr, whose pipe is large
 * enough for all of them, while a log socket that nobody has time to empty loses some. Where the
 * shim judges, each line of it names a case, a destination and the attempts that must have been
 * recorded: f a first try, r a retry, or - for none at all. */
static void expect_stories(struct probe probe, int least)
{
	const enum how ways[] = { OBSERVE, ENFORCE };

	probe.log = "target = none\n";
	expect_same(&probe);
	probe.log = "target = stderr\nattempts = on\ninterval = 0\n";
	for (size_t i = 0; i < 2; i++) {
		static struct result result;
		int lines = 0;

		run_probe(&probe, ways[i], &result);
		for (char *line = strtok(result.out, "\n"); line;
		     line = strtok(NULL, "\n"), lines++) {
			char name[32], address[400], wanted[32], letters[64];
			bool recovered;

			cr_assert(sscanf(line, "%31s %399s %31[-fr]", name, address, wanted) == 3,
			          "%s", line);
			story_of(result.err, address, letters, &recovered);
			cr_expect(strcmp(letters, *wanted == '-' ? "" : wanted) == 0,
			          "%s, %s: attempts: %s", way_name(ways[i]), line, letters);
			cr_expect(recovered == (strstr(line, "recovered") != NULL), "%s, %s",
			          way_name(ways[i]), line);
		}
		cr_expect_geq(lines, least, "%d lines", lines);
	}
}

Test(tell, what_a_call_with_data_means)
{
	expect_stories((struct probe) { .program = "tell_data", .policy = FAST }, 6);
}

Test(tell, what_a_call_on_a_number_means)
{
	expect_stories((struct probe) { .program = "tell_number", .policy = FAST }, 8);
}

Test(tell, unix_sockets_of_both_types)
{
	expect_stories(
	    (struct probe) { .program = "unix_kinds", .arguments = { scratch() }, .policy = FAST },
	    12);
}

Test(tell, a_server_in_the_same_process)
{
	expect(&(struct probe) { .program = "own_server",
	                         .arguments = { scratch() },
	                         .policy = "base = 10s\nfactor = 1\njitter = none\n" },
	       "its own: ok ok ok ok\nanother's: ok ok ok ok\n",
	       "its own: ok ok ok ok\nanother's: ok ok ECONNREFUSED ECONNREFUSED\n");
}

Test(tell, nothing_of_sctp)
{
	char preload[2 * PATH_MAX], command[2 * PATH_MAX];
	const char *compiler = getenv("CC");

	snprintf(preload, sizeof(preload), "%%s:%s/sctp.so", scratch());
	snprintf(command, sizeof(command),
	         "%s -std=c11 -D_GNU_SOURCE -DSCTP_LIBRARY -fPIC -shared -o %s/sctp.so "
	         "tests/probe/sctp.c -ldl",
	         compiler != NULL && *compiler != '\0' ? compiler : "cc", scratch());
	output_of(command);
	expect_stories((struct probe) { .program = "sctp", .policy = FAST, .preload = preload }, 6);
}
