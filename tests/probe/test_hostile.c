/* SPDX-License-Identifier: MIT */
/* Other processes that share the region and mean harm, or die. */
#include "run.h"
#include "shares.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A share of its own for each run of the tests. */
static const char *shared(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "scope = user\nshare = test-%d", (int)getpid());
	return text;
}

static const char *share_name(void)
{
	static char name[64];

	snprintf(name, sizeof(name), "test-%d", (int)getpid());
	return name;
}

static void remove_share(void)
{
	char command[128];

	share_discard(share_name());
	/* Those of other namespaces. */
	snprintf(command, sizeof(command), "rm -rf /dev/shm/retrybudget-%u/%s-*", geteuid(),
	         share_name());
	output_of(command);
	discard_scratch();
}

TestSuite(hostile, .fini = remove_share);

/* How long the writer of garbage works, in s. More: PROBE_SECONDS=30. */
static const char *seconds(void)
{
	const char *given = getenv("PROBE_SECONDS");

	return given != NULL ? given : "2";
}

Test(hostile, corrupted)
{
	static const char fine[] = "late: 0, wrong: 0, meanwhile: some, afterwards: works\n";
	const struct result *result;

	/* All times of the policy are short: the longest that it allows is no fault, and a connect
	 * may be parked for what a server seems to have asked for, two minutes by default. */
	result = expect(
	    &(struct probe) { .program = "corrupted",
	                      .arguments = { seconds() },
	                      .general = shared(),
	                      .policy =
	                          "base = 1ms\ncap = 50ms\nmin = 0\nhold = 50ms\nprobe = 200ms\n"
	                          "retry_after_cap = 100ms\n",
	                      .log = "target = syslog\ninterval = 100ms\n",
	                      .seconds = 120,
	                      .forged = true },
	    fine, fine);
	cr_assert_gt(records_with(result, "event="), 0);
	/* Whatever stood in the names: one line each, of printable ASCII. */
	for (const char *at = result->records; *at != '\0'; at++)
		cr_assert(*at == '\n' || (*at >= ' ' && *at <= '~'), "byte %02x in a record",
		          (unsigned char)*at);
}

/* hold = 0: how long anything takes is then the program's own. */
Test(hostile, member)
{
	static const char *const spoilt[] = {
		"cut short",        "punched",           "filled with ones",
		"filled with text", "filled with noise", "spent",
		"full of tokens",   "of another layout", "of another size",
		"removed",          "without rights",    "without a name",
		"a link to a file", "a link to itself",  "a link to another segment",
		"a FIFO",           "a directory",       "a file",
	};
	static char fine[4096];
	const struct result *result;

	*fine = '\0';
	for (size_t i = 0; i < sizeof(spoilt) / sizeof(*spoilt); i++)
		snprintf(fine + strlen(fine), sizeof(fine) - strlen(fine),
		         "%s: the program works, a new one works\n", spoilt[i]);
	result = expect(&(struct probe) { .program = "member",
	                                  .arguments = { share_name() },
	                                  .general = shared(),
	                                  .policy = "hold = 0\n",
	                                  .seconds = 120,
	                                  .forged = true },
	                fine, fine);
	cr_expect_geq(records_with(result, "event=scope"), 3, "regions of their own are told of");
}

/* How many processes are killed: `make check-death` asks for more. */
static const char *kills(void)
{
	const char *given = getenv("PROBE_KILLS");

	return given != NULL ? given : "150";
}

/* The lines that begin with '#' are only shown. */
static void die(const char *program, const char *kind, const char *general, const char *policy,
                const char *wanted)
{
	static struct result result;
	char text[1024] = "";
	struct probe probe = { .program = program,
		               .arguments = { kind ? kind : kills(), kind ? kills() : NULL },
		               .general = general,
		               .policy = policy,
		               .log = "target = none",
		               .seconds = 1800 };

	run_probe(&probe, ENFORCE, &result);
	if (result.exited && result.code == 77)
		cr_skip_test("%s: this machine does not allow it", program);
	for (char *line = strtok(result.out, "\n"); line; line = strtok(NULL, "\n")) {
		if (*line == '#')
			cr_log_info("%s %s", kind ? kind : "", line);
		else
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n", line);
	}
	cr_assert(result.exited && result.code == 0, "%s: %s %d", program,
	          result.exited ? "exit" : "signal", result.code);
	cr_expect_str_eq(text, wanted, "%s: %s", program, text);
}

/* In observe far more leaves the machine than the rule allows, which shows that it is counted. */
static void die_often(const char *kind, const char *general, const char *policy)
{
	char wanted[320];

	snprintf(wanted, sizeof(wanted),
	         "killed: %s, otherwise ended or out of range: 0, exchanges: all\n"
	         "while one stands still: the others go on\n"
	         "more than the rule allows: no\na fresh retry: goes\n",
	         kills());
	die("deaths", kind, general, policy, wanted);
}

#define RULE                                                                                       \
	"capacity = 10\nfloor = 20/s\nearn = 0\nprobe = 200ms\nbase = 1ms\nfactor = 1\ncap = "     \
	"1ms\n"                                                                                    \
	"[budget]\ncapacity = 1000\nfloor = 1000/s\n"

Test(death, of_forked_children, .fini = discard_scratch)
{
	die_often("fork", "", "hold = 0\nmin = 0\n" RULE);
}

Test(death, of_programs_that_share_by_name, .fini = remove_share)
{
	die_often("exec", shared(), "hold = 3ms\n" RULE);
}

Test(death, on_the_way_back, .fini = remove_share)
{
	die("ramp_deaths", NULL, shared(), "hold = 3ms\n" RULE,
	    "with a step held: some killed, some stopped; ended otherwise: 0\n"
	    "a step that stands still: no\n"
	    "those that are left: come back, one with all of them dead: comes back\n");
}
