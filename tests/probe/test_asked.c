/* SPDX-License-Identifier: MIT */
/* Who is asked by datagrams has new work, and who is answered by them has none. */
#include "run.h"

#include <criterion/criterion.h>

/* Every retry is refused: there is nothing to pay with. */
#define EMPTY "capacity = 1\nstart = 0%\nfloor = 0/s\nearn = 0\nprobe = 1h\n"

TestSuite(asked, .fini = discard_scratch);

static void holds(const char *way, int retries)
{
	const struct result *result = expect_same(
	    &(struct probe) { .program = "asked", .arguments = { way }, .policy = EMPTY });

	cr_expect_eq(records_with(result, "kind=first"), 2 - retries, "%s: %s", way,
	             result->records);
	cr_expect_eq(records_with(result, "kind=retry"), retries, "%s: %s", way, result->records);
}

Test(asked, by_every_call_that_says_whom_to_answer)
{
	holds("recvfrom", 0);
	holds("recvmsg", 0);
	holds("recvmmsg", 0);
}

Test(asked, on_another_number_and_in_a_child)
{
	holds("dup", 0);
	holds("fork", 0);
	holds("vfork", 0);
}

Test(asked, lines_that_nobody_answers_are_no_demand)
{
	holds("log", 1);
	holds("read", 1);
}

Test(asked, replies_are_no_demand)
{
	holds("client", 1);
	holds("connected", 1);
}

Test(asked, a_number_that_was_a_services_is_no_service)
{
	holds("reused", 1);
}
