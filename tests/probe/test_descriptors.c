/* SPDX-License-Identifier: MIT */
/* Descriptors: numbers that come back as something else, second numbers, closed standard streams.
 */
#include "run.h"

#include <criterion/criterion.h>
#include <string.h>

/* Every retry is refused: there is nothing to pay with. */
#define EMPTY "capacity = 1\nstart = 0%\nfloor = 0/s\nearn = 0\nprobe = 1h\n"
#define FAST                                                                                       \
	"base = 1ms\nfactor = 1\ncap = 1ms\njitter = none\nmin = 1ms\nfloor = 1000/s\ncapacity = " \
	"1000\n"

TestSuite(descriptors, .fini = discard_scratch);

Test(descriptors, closed_in_a_vfork_child_stay_followed)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "vfork_close", .policy = EMPTY },
	           "send: 1\nrecv: 0\nnext: ok\n", "send: 1\nrecv: 0\nnext: ECONNREFUSED\n");

	cr_expect_eq(records_with(result, "kind=first"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 1, "%s", result->records);
}

Test(descriptors, closed_in_a_vfork_child_of_a_forked_process_leave_it_judged)
{
	const struct result *result = expect(
	    &(struct probe) {
		.program = "vfork_close", .arguments = { "forked" }, .policy = EMPTY },
	    "send: 1\nnext: ok\n", "send: 1\nnext: ECONNREFUSED\n");

	cr_expect_eq(records_with(result, "kind=retry"), 1, "%s", result->records);
}

static void outlive_a_child(const char *way)
{
	const struct result *result = expect(
	    &(struct probe) { .program = "vfork_range", .arguments = { way }, .policy = EMPTY },
	    "first: ECONNREFUSED\nasked: 1\nnext: ECONNREFUSED\n", NULL);

	cr_expect_eq(records_with(result, "kind=first"), 2, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 0, "%s", result->records);
}

Test(descriptors, accepted_outlive_a_vfork_childs_close_range)
{
	outlive_a_child(NULL);
}

Test(descriptors, accepted_outlive_a_vfork_childs_loop)
{
	outlive_a_child("loop");
}

Test(descriptors, reused_after_a_raw_close)
{
	const struct result *result =
	    expect_same(&(struct probe) { .program = "fd_reuse", .policy = EMPTY });

	cr_expect_eq(records_with(result, "kind=retry"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "event=throttled"), 1, "%s", result->records);
}

Test(descriptors, bound_to_ports_that_are_in_use)
{
	const struct result *result =
	    expect_same(&(struct probe) { .program = "used_ports", .policy = EMPTY });

	cr_expect_eq(records_with(result, "kind=retry"), 0, "%s", result->records);
	cr_expect_eq(records_with(result, "event=refused"), 0, "%s", result->records);
}

Test(descriptors, that_find_no_port_of_their_own)
{
	const struct result *result =
	    expect_same(&(struct probe) { .program = "no_ports", .policy = EMPTY });

	cr_expect_eq(records_with(result, "kind=retry"), 0, "%s", result->records);
	cr_expect_eq(records_with(result, "event=refused"), 0, "%s", result->records);
}

Test(descriptors, doubled)
{
	struct probe probe = { .program = "dup_family", .policy = EMPTY };
	static struct result bare;
	static char held[sizeof(bare.out)];
	const struct result *result;
	char *last;

	run_probe(&probe, BARE, &bare);
	strcpy(held, bare.out);
	last = strstr(held, "after a drop: ok");
	cr_assert(last != NULL, "%s", bare.out);
	strcpy(last, "after a drop: ECONNREFUSED\n");
	result = expect(&probe, bare.out, held);
	cr_expect_eq(records_with(result, "kind=retry"), 1, "%s", result->records);
}

/* What a daemon that closed everything must see, whatever the shim logs meanwhile. */
static const char untouched[] = "daemon: exit 0, signal 0\nwords that came back: all\n"
				"bytes that nobody wrote: 0\nwrong errors: 0\n"
				"healthy connection: works\n";

/* Every attempt and every refusal becomes a record with call sites while the numbers change hands;
 * the records must come to the log socket and nowhere else. */
static void daemon_with_records(const char *how)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "daemon_close",
	                             .arguments = { how },
	                             .policy = FAST,
	                             .log = "target = syslog\ntrace = 4\nattempts = on\n"
	                                    "interval = 0\n" },
	           untouched, NULL);

	cr_expect_geq(records_with(result, "event=attempt"), 27, "%s", result->records);
}

Test(descriptors, closed_by_a_loop_of_a_daemon)
{
	daemon_with_records("loop");
}

Test(descriptors, closed_by_close_range)
{
	daemon_with_records("range");
}

Test(descriptors, closed_by_the_raw_call)
{
	daemon_with_records("raw");
}

/* Tokens run out, so that refusals are reported too, with their call sites. */
Test(descriptors, reused_while_refusals_are_reported)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "daemon_close",
	                             .arguments = { "loop" },
	                             .policy = "base = 1ms\ncap = 1ms\nmin = 1ms\ncapacity = 3\n"
	                                       "floor = 0/s\nprobe = 60s\nhold = 20ms\n",
	                             .log = "target = syslog\ntrace = 4\ninterval = 0\n" },
	           untouched, NULL);

	cr_expect_geq(records_with(result, "event=throttled"), 10, "%s", result->records);
}

/* Records to stderr: after the daemon closed it, number 2 is a file, a pipe or a socket of the
 * host, and no record may go there. The daemon's own first records may have come to the real one.
 */
Test(descriptors, standard_error_given_away)
{
	static struct result result;
	struct probe probe = { .program = "daemon_close",
		               .arguments = { "loop" },
		               .policy = FAST,
		               .log = "target = stderr\ntrace = 4\nattempts = on\ninterval = 0\n" };

	run_probe(&probe, ENFORCE, &result);
	cr_expect_str_eq(result.out, untouched, "%s", result.out);
	cr_expect_eq(result.code, 0);
	cr_expect(strstr(result.err, "event=attempt") != NULL,
	          "no record came to the real stderr: %s", result.err);
}
