/* SPDX-License-Identifier: MIT */
/* Destinations without bound: the table is fixed, and what matters stays in it. */
#include "told.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(bounds, .fini = discard_scratch, .timeout = 300);

#define QUIET "target = none\n"

/* Five scanners share the table, threads and forked children; a storm and a healthy conversation go
 * on meanwhile. */
Test(bounds, a_hundred_thousand_first_tries)
{
	const struct result *held = both_ways(&(struct probe) { .program = "scan",
	                                                        .arguments = { "100000" },
	                                                        .policy = "cap = 1s\n",
	                                                        .log = QUIET,
	                                                        .seconds = 120 });

	cr_expect(strstr(held->out, "answered: 50000\nrefused: 50000\nother: 0\nmemory: the same"),
	          "%s", held->out);
	/* All retries are the storm's: none of a hundred thousand first tries was taken for one,
	 * waited or was refused. */
	cr_expect_gt(told(held, "storm", "retries"), 0, "%s", held->out);
	cr_expect_eq(told(held, "all", "retries"), told(held, "storm", "retries"), "%s", held->out);
	cr_expect_eq(told(held, "all", "waited"), told(held, "storm", "waited"), "%s", held->out);
	cr_expect_eq(told(held, "all", "refused"), told(held, "storm", "refused"), "%s", held->out);
	/* The storm lost neither its budget nor its streak, and was held: bare it is tens of
	 * thousands. */
	cr_expect_eq(told(held, "storm", "streak"), told(held, "storm", "failures"), "%s",
	             held->out);
	cr_expect_lt(told(held, "probe", "storm"), 60, "%s", held->out);
	/* The conversation kept its slot from the first word on. */
	cr_expect_geq(told(held, "talk", "attempts"), told(held, "probe", "echoes"), "%s",
	              held->out);
	/* What the scan's failures take from the process: nothing. */
	cr_expect_gt(told(held, "all", "tokens"), 80000, "%s", held->out);
	cr_expect_eq(told(held, "all", "faults"), 0);
}

/* Each destination fails twice; those forgotten meanwhile are first tries again, so that nothing
 * stalls. */
Test(bounds, a_hundred_thousand_twice)
{
	const struct result *held = both_ways(&(struct probe) { .program = "scan",
	                                                        .arguments = { "100000", "2" },
	                                                        .policy = "cap = 1s\n",
	                                                        .log = QUIET,
	                                                        .seconds = 120 });

	cr_expect(strstr(held->out, "answered: 100000\nrefused: 100000\nother: 0\n"), "%s",
	          held->out);
	cr_expect_gt(told(held, "all", "tokens"), 80000, "%s", held->out);
}

/* A crawler that tries each dead host once more is paced by the process's budget, and goes on: what
 * that cannot pay for ends at once, in the program's own error. */
Test(bounds, a_crawler_that_tries_twice_goes_on)
{
	const struct result *held = both_ways(
	    &(struct probe) { .program = "crawl",
	                      .arguments = { "60", "0", "wait" },
	                      .policy = "[budget]\ncapacity = 20\nstart = 100%\nfloor = 0/s\n",
	                      .log = QUIET,
	                      .seconds = 120 });

	cr_expect_eq(told(held, "all", "retries"), 60, "%s", held->out);
	cr_expect_eq(told(held, "all", "refused"), 40, "%s", held->out);
	cr_expect_eq(told(held, "all", "waited"), 0, "%s", held->out);
	cr_expect_eq(told(held, "probe", "connects"), 80, "%s", held->out);
}
