/* SPDX-License-Identifier: MIT */
/* What a process may not do, and must live with all the same. */
#include "run.h"

#include <criterion/criterion.h>

TestSuite(sandbox, .fini = discard_scratch);
TestSuite(forks, .fini = discard_scratch);

/* Of the records, each of which takes a datagram socket, none can have come. */
Test(sandbox, that_traps_is_answered_by_its_handler)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "trapped",
	                             .policy = "base = 100ms\nfactor = 1\ncap = 100ms\n" },
	           "a datagram socket: EPERM, answered: 1\nconnect: ECONNREFUSED\n"
	           "connect: ECONNREFUSED\nconnect: ECONNREFUSED\n",
	           NULL);

	cr_expect_eq(records_with(result, "event=throttled"), 0);
}

/* A record of a refusal shows that the shim is at work there. */
Test(sandbox, that_limits_locked_memory_has_room)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "locked",
	                             .policy = "base = 100ms\nfactor = 1\ncap = 100ms\n" },
	           "locked: ok\nroom for more: 2 MiB\nrefused: ECONNREFUSED\n"
	           "refused: ECONNREFUSED\nrefused: ECONNREFUSED\nserver: answers\n",
	           NULL);

	cr_expect_gt(records_with(result, "event=throttled"), 0);
}

/* Records without a limit, so that a socket is open nearly all the time. */
Test(forks, find_no_descriptor_of_ours, .timeout = 180)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "fork_leak",
	                             .policy = "base = 1ms\nfactor = 1\ncap = 1ms\nmin = 1ms\n"
	                                       "capacity = 1\nfloor = 0/s\nhold = 1ms\n",
	                             .log = "interval = 0\n" },
	           "clean\n", NULL);

	cr_expect_gt(records_with(result, "event=throttled"), 10);
}
