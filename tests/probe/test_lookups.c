/* SPDX-License-Identifier: MIT */
/* Every way of looking a name up, against a name server that fails on order. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define FAST                                                                                       \
	"base = 1ms\nfactor = 1\ncap = 1ms\njitter = none\nmin = 1ms\nfloor = 1000/s\ncapacity = " \
	"1000\n"

/* Nothing to pay a retry with. */
#define EMPTY                                                                                      \
	"base = 1ms\nfactor = 1\ncap = 1ms\nmin = 1ms\ncapacity = 1\nstart = 0%\nfloor = 0/s\n"    \
	"earn = 0\nprobe = 60s\nhold = 5ms\n"

TestSuite(lookup_calls, .fini = discard_scratch);

static void same(const char *label)
{
	expect_same(
	    &(struct probe) { .program = "lookups", .arguments = { label }, .policy = FAST });
}

Test(lookup_calls, keep_their_words_when_the_server_answers)
{
	same("ok");
}

Test(lookup_calls, keep_their_words_on_servfail)
{
	same("servfail");
}

Test(lookup_calls, keep_their_words_on_nxdomain)
{
	same("nxdomain");
}

Test(lookup_calls, keep_their_words_on_refused)
{
	same("refused");
}

Test(lookup_calls, keep_their_words_on_a_format_error)
{
	same("formerr");
}

Test(lookup_calls, keep_their_words_on_an_empty_answer)
{
	same("nodata");
}

Test(lookup_calls, keep_their_words_when_nobody_listens)
{
	same("nobody");
}

/* A second each, so only one of each family. */
Test(lookup_calls, keep_their_words_when_the_server_is_silent, .timeout = 90)
{
	expect_same(&(struct probe) { .program = "lookups",
	                              .arguments = { "silent", "gai4", "hostr", "nquery" },
	                              .policy = FAST });
}

/* Writes what the probe says bare, with the second question kept from the server; spared: the call
 * that says of the failure that there is no such name, or NULL. */
static void kept_from_server(const char *bare, char *held, size_t size, const char *spared)
{
	char line[256];
	size_t used = 0;

	for (*held = '\0'; sscanf(bare, "%255[^\n]", line) == 1; bare += strlen(line) + 1) {
		bool is_told = spared && strncmp(line, spared, strlen(spared)) == 0;
		char *twice = is_told ? NULL : strstr(line, "asks: twice");
		size_t length = strlen(line);

		used += snprintf(held + used, size - used, "%.*s%s\n",
		                 twice ? (int)(twice - line) : (int)length, line,
		                 twice ? "asks: once" : "");
		if (bare[length] == '\0')
			break;
	}
}

static void throttled(const char *label, const char *spared)
{
	struct probe probe = { .program = "lookups", .arguments = { label }, .policy = EMPTY };
	static struct result bare;
	static char held[sizeof(bare.out)];

	run_probe(&probe, BARE, &bare);
	if (bare.exited && bare.code == 77)
		cr_skip_test("needs a mount namespace");
	cr_assert(strstr(bare.out, "asks: once") == NULL && strstr(bare.out, "asks: twice"), "%s",
	          bare.out);
	kept_from_server(bare.out, held, sizeof(held), spared);
	expect(&probe, bare.out, held);
}

Test(lookup_calls, say_the_last_real_answer_when_refused_after_servfail)
{
	throttled("servfail", NULL);
}

Test(lookup_calls, say_the_last_real_answer_when_refused_after_a_format_error)
{
	throttled("formerr", "getaddrinfo");
}

Test(lookup_calls, of_what_is_there_are_never_throttled)
{
	expect_same(
	    &(struct probe) { .program = "lookups", .arguments = { "ok" }, .policy = EMPTY });
	expect_same(
	    &(struct probe) { .program = "lookups", .arguments = { "nodata" }, .policy = EMPTY });
}

/* That there is no such name is an answer. */
Test(lookup_calls, of_what_is_not_there_are_never_throttled)
{
	expect_same(
	    &(struct probe) { .program = "lookups", .arguments = { "nxdomain" }, .policy = EMPTY });
}

/* Nothing may be told apart by the program; the server is not asked again for what it failed at. */
static void asynchronous(const char *how)
{
	struct probe probe = { .program = "lookup_async", .arguments = { how }, .policy = EMPTY };
	static struct result bare;
	static char held[sizeof(bare.out)];
	const struct result *result;
	char *questions;

	run_probe(&probe, BARE, &bare);
	if (bare.exited && bare.code == 77)
		cr_skip_test("needs a mount namespace");
	questions = strstr(bare.out, "as many again");
	cr_assert(questions != NULL, "%s", bare.out);
	snprintf(held, sizeof(held), "%.*sonly of what is there%s", (int)(questions - bare.out),
	         bare.out, questions + strlen("as many again"));
	result = expect(&probe, bare.out, held);
	cr_expect_eq(records_with(result, "event=throttled"), 2, "%s", result->records);
	cr_expect_eq(records_with(result, "dest=fine.two.test:"), 1, "%s", result->records);
}

Test(lookup_calls, that_wait_for_many_at_once)
{
	asynchronous("wait");
}

Test(lookup_calls, that_end_later)
{
	asynchronous("poll");
}

Test(lookup_calls, that_end_with_a_notification)
{
	asynchronous("notify");
}

/* The destinations of the connects, in order, as "name kind|". */
static const char *destinations_in(const char *records)
{
	static char list[8192];
	char name[256], kind[16];
	size_t used = 0;

	for (const char *at = records; (at = strstr(at, "event=attempt")) != NULL; at++)
		if (sscanf(at, "event=attempt prog=%*s dest=%255s addr=%*s policy=%*s kind=%15s",
		           name, kind) == 2) {
			*strrchr(name, ':') = '\0';
			used += snprintf(list + used, sizeof(list) - used, "%s %s|", name, kind);
		}
	return list;
}

Test(lookup_calls, name_the_destinations)
{
	const struct result *result =
	    expect_same(&(struct probe) { .program = "lookup_names", .policy = FAST });

	cr_expect_str_eq(destinations_in(result->records),
	                 "127.0.0.1 first|db first|alias.real.test first|there first|"
	                 "mixed.case.test first|mixed.case.test retry|" /* asked for as 127.1 */
	                 "three.sweep.test first|three.sweep.test first|three.sweep.test first|"
	                 "six.both.test first|six.both.test first|"
	                 "six.both.test retry|" /* the same address again, mapped */
	                 "three.entry.test first|three.entry.test first|"
	                 "three.entry.test first|six.entry.test first|"
	                 "left.test first|right.test first|",
	                 "%s", result->records);
}

/* Had the mark of the lookup that was left stayed, the connects after it would pass for the
 * resolver's own. */
Test(lookup_calls, leave_nothing_behind_after_a_jump, .timeout = 60)
{
	static const char start[] = "connect: ECONNREFUSED\nconnect: ECONNREFUSED\n"
				    "connect: ECONNREFUSED\n"
				    "jumped out of the real call: 6\n";
	char plain[1024], held[1024];
	const struct result *result;

	snprintf(plain, sizeof(plain),
	         "%sjumped out of the wait: 0, later questions: more\n"
	         "cancelled: ended, clean-up run: not needed\ndescriptors left: 0\n",
	         start);
	snprintf(held, sizeof(held),
	         "%sjumped out of the wait: 3, later questions: none\n"
	         "cancelled: ended, clean-up run: yes\ndescriptors left: 0\n",
	         start);
	result = expect(&(struct probe) { .program = "lookup_jump", .policy = GATE_SHUT("3s") },
	                plain, held);
	cr_expect_eq(records_with(result, "event=attempt prog=lookup_jump dest=127.0.0.1:"), 3,
	             "%s", result->records);
	cr_expect_eq(records_with(result, "event=attempt prog=lookup_jump dest=dns:silent."), 6,
	             "%s", result->records);
	cr_expect_geq(records_with(result, "dest=dns:servfail.b.test policy=default kind=retry"), 3,
	              "%s", result->records);
}
