/* SPDX-License-Identifier: MIT */
/*
 * Conversations that no hook sees: what the kernel knows of them when they end must do (TCP_INFO).
 * Same results as bare, nothing counted that did not happen, and a storm is known for one wherever
 * its end is seen.
 */
#include "told.h"

TestSuite(unseen, .fini = discard_scratch, .timeout = 300);

#define TRIES 4
#define PACE  "base = 1ms\nfactor = 1\ncap = 1ms\njitter = none\nmin = 1ms\n"

/* How much of a way's conversations the shim gets to know. */
enum sight {
	ALL,      /* how each one ended */
	ATTEMPTS, /* that they were begun, and no more */
	NOTHING,
};

static const struct result *converse(const char *way, const char *server)
{
	return both_ways(&(struct probe) { .program = "unseen",
	                                   .arguments = { way, server, "4" },
	                                   .policy = PACE,
	                                   .log = "target = none\n" });
}

/* What is counted of conversations that go well. */
static void well(const char *way, enum sight sight)
{
	const struct result *held = converse(way, "echo");

	cr_expect(strstr(held->out, "4: word\n"), "%s: %s", way, held->out);
	cr_expect_eq(told(held, "all", "attempts"), sight == NOTHING ? 0 : TRIES, "%s: %s", way,
	             held->out);
	cr_expect_eq(told(held, "all", "retries"), 0, "%s: %s", way, held->out);
	cr_expect_eq(told(held, "all", "failures"), 0, "%s: %s", way, held->out);
	/* One that would change nothing need not be asked for. */
	if (sight == ALL)
		cr_expect_geq(told(held, "all", "successes"), 1, "%s: %s", way, held->out);
	else
		cr_expect_eq(told(held, "all", "successes"), 0, "%s: %s", way, held->out);
}

/* And of conversations that fail, all in the same way. */
static void badly(const char *way, const char *server, const char *class, enum sight sight)
{
	const struct result *held = converse(way, server);
	long failures = sight == ALL ? TRIES : 0;

	cr_expect_eq(told(held, "all", "attempts"), sight == NOTHING ? 0 : TRIES, "%s: %s", way,
	             held->out);
	cr_expect_eq(told(held, "all", "successes"), 0, "%s: %s", way, held->out);
	cr_expect_eq(told(held, "all", "failures"), failures, "%s: %s", way, held->out);
	cr_expect_eq(told(held, "all", class), failures, "%s: %s", way, held->out);
	cr_expect_eq(told(held, "all", "retries"), sight == ALL ? TRIES - 1 : 0, "%s: %s", way,
	             held->out);
}

/* A reset may overtake the connect itself; so not where another process connects. */
static void all_servers(const char *way, enum sight sight)
{
	well(way, sight);
	badly(way, "drop", "dropped", sight);
	badly(way, "reset", "reset", sight);
}

Test(unseen, by_stdio)
{
	all_servers("stdio", ALL);
}

Test(unseen, by_raw_calls)
{
	all_servers("raw", ATTEMPTS);
}

Test(unseen, closed_by_the_raw_call)
{
	all_servers("raw-close", ALL);
}

Test(unseen, connected_by_the_raw_call)
{
	all_servers("raw-connect", NOTHING);
}

Test(unseen, by_io_uring)
{
	all_servers("ring", ALL);
}

Test(unseen, closed_by_io_uring)
{
	all_servers("ring-close", ALL);
}

Test(unseen, connected_by_io_uring)
{
	all_servers("ring-connect", NOTHING);
}

Test(unseen, doubled_and_closed_in_any_order)
{
	all_servers("dup-first", ALL);
	all_servers("dup-last", ALL);
}

Test(unseen, asked_on_one_number_and_answered_on_another)
{
	well("dup-asks", ALL);
	badly("dup-asks", "drop", "dropped", ALL);
}

Test(unseen, connected_here_after_another_process_made_the_socket)
{
	all_servers("passed", ALL);
}

Test(unseen, passed_on_when_connected)
{
	well("passed-connected", ATTEMPTS);
	badly("passed-connected", "drop", "dropped", ATTEMPTS);
}

Test(unseen, fetched_from_another_process_when_connected)
{
	well("pidfd", ATTEMPTS);
	badly("pidfd", "drop", "dropped", ATTEMPTS);
}

Test(unseen, connected_after_an_exec)
{
	all_servers("exec-fresh", ALL);
}

Test(unseen, connected_before_an_exec)
{
	well("exec-connected", NOTHING);
	badly("exec-connected", "drop", "dropped", NOTHING);
}

/* The program waits more than a second, and hangs up on a server that said nothing, and has never
 * said more: nobody can tell it from one that only takes. */
static void is_no_timeout(const char *way, enum sight sight)
{
	const struct result *held = converse(way, "silent");

	cr_expect_eq(told(held, "all", "attempts"), sight == NOTHING ? 0 : TRIES, "%s: %s", way,
	             held->out);
	cr_expect_eq(told(held, "all", "failures"), 0, "%s: %s", way, held->out);
}

Test(unseen, given_up)
{
	is_no_timeout("libc", ALL);
}

Test(unseen, given_up_in_a_ring)
{
	is_no_timeout("ring", ALL);
}

Test(unseen, given_up_after_a_dup)
{
	is_no_timeout("dup-first", ALL);
}

Test(unseen, given_up_when_passed_on)
{
	is_no_timeout("passed", ALL);
}

/* Nobody saw when the number was given up: after a second, or right after the question. */
Test(unseen, given_up_unseen)
{
	is_no_timeout("raw-close", ATTEMPTS);
}

/* It says that the server is back as a close would. */
Test(unseen, left_open_at_exit)
{
	const struct result *held = converse("left-open", "echo");

	cr_expect(strstr(held->out, "ECONNREFUSED\nthe child: 0\n"), "%s", held->out);
	cr_expect_eq(told(held, "all", "failures"), 1, "%s", held->out);
	cr_expect_eq(told(held, "all", "successes"), 1, "%s", held->out);
}
