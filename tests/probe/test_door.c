/* SPDX-License-Identifier: MIT */
/* [admission] sections: what servers and their clients see of a door, whatever the server is like.
 */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* So many come in, and then none. The clients, which are children of the probe, are left alone. */
#define DOOR(burst, reply)                                                                         \
	"mode = off\n[admission web]\nlisten = :8080, unix:@retrybudget-door\nrate = "             \
	"0.001/s\nburst = " burst "\nretry_after = 6500ms\nreply = " reply "\n"

TestSuite(door, .fini = discard_scratch);

Test(door, a_reset_for_whom_it_turns_away)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "interrupt" },
	                         .policy = DOOR("3", "reset") },
	       "accept ended: EINTR after 1 signals\nclients: served 10\n",
	       "accept ended: EINTR after 1 signals\nclients: served 3 reset 7\n");
}

Test(door, an_end_for_whom_it_turns_away)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "interrupt" },
	                         .policy = DOOR("3", "close") },
	       "accept ended: EINTR after 1 signals\nclients: served 10\n",
	       "accept ended: EINTR after 1 signals\nclients: served 3 end 7\n");
}

/* 6.5 s are told as 7. */
Test(door, a_503_for_whom_it_turns_away)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "interrupt" },
	                         .policy = DOOR("3", "http") },
	       "accept ended: EINTR after 1 signals\nclients: served 10\n",
	       "accept ended: EINTR after 1 signals\nclients: served 3 503 7\n");
}

Test(door, a_handler_with_restart_does_not_end_accept)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "restart" },
	                         .policy = DOOR("1", "reset") },
	       "accept ended: EINTR after 2 signals\nclients: served 10\n",
	       "accept ended: EINTR after 2 signals\nclients: served 1 reset 9\n");
}

Test(door, of_a_unix_socket)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "unix" },
	                         .policy = DOOR("4", "http") },
	       "accept ended: EINTR after 1 signals\nclients: served 10\n",
	       "accept ended: EINTR after 1 signals\nclients: served 4 503 6\n");
}

Test(door, shared_by_forked_children)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "prefork" },
	                         .policy = DOOR("5", "close") },
	       "clients: served 40\n", "clients: served 5 end 35\n");
}

Test(door, address_and_flags_of_those_who_come_in)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "flags" },
	                         .policy = DOOR("1", "reset") },
	       "length 16 family 2 cloexec 1 nonblocking 1\nEAGAIN, length 128\nall answered: 1\n",
	       "length 16 family 2 cloexec 1 nonblocking 1\nEAGAIN, length 128\n"
	       "all answered: 1\n");
}

Test(door, a_jump_out_of_accept_leaves_nothing_behind)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "jump" },
	                         .policy = DOOR("2", "http") },
	       "descriptors left: few\nmask: same\ncancel state: enabled\nunanswered: few\n", NULL);
}

Test(door, accept_stays_a_cancellation_point)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "cancel" },
	                         .policy = DOOR("3", "reset") },
	       "cancelled\ndescriptors left: 0\nclients: served 10\n",
	       "cancelled\ndescriptors left: 0\nclients: served 3 reset 7\n");
}

Test(door, the_timeout_of_a_listening_socket_holds)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "timeout" },
	                         .policy = DOOR("1", "reset") },
	       "accepted\n", "EAGAIN in time\n");
}

Test(door, an_inherited_socket)
{
	expect(&(struct probe) { .program = "door_waits",
	                         .arguments = { "inherited" },
	                         .policy = DOOR("2", "reset") },
	       "waiting: served 3\nlater: served 3\n",
	       "waiting: served 2 reset 1\nlater: reset 3\n");
}

/* 198 are turned away, 64 in one call at most. */
Test(door, poll_and_one_accept)
{
	expect(&(struct probe) { .program = "door_loop",
	                         .arguments = { "level" },
	                         .policy = DOOR("2", "reset") },
	       "clients: served 200\naborted 0, other 0\n",
	       "clients: served 2 reset 198\naborted 3, other 0\n");
}

#define FIVE(seen) seen seen seen seen seen

Test(door, edges_of_epoll)
{
	expect(
	    &(struct probe) {
		.program = "door_loop", .arguments = { "edge" }, .policy = DOOR("2", "close") },
	    "clients: served 200\n" FIVE("clients: served 1\n") "edges 5, aborted 0, other 0\n",
	    "clients: served 2 end 198\n" FIVE("clients: end 1\n") "edges 5, aborted 3, other 0\n");
}

Test(door, select_before_a_blocking_accept)
{
	expect(&(struct probe) { .program = "door_loop",
	                         .arguments = { "select" },
	                         .policy = DOOR("1", "reset") },
	       "came back: aborted 0, other 0\nthe first: served\nclients: served 3\n",
	       "came back: aborted 1, other 0\nthe first: served\nclients: reset 3\n");
}

/* One record per interval, with the count of the others in the next. */
Test(door, records)
{
	static struct result result;
	struct probe probe = { .program = "door_loop",
		               .arguments = { "level" },
		               .policy = DOOR("2", "reset") };

	run_probe(&probe, ENFORCE, &result);
	if (result.code == 77)
		cr_skip_test("no network of its own here");
	cr_expect_eq(records_with(&result,
	                          "event=turned-away prog=door_loop "
	                          "listen=127.0.0.1:8080 policy=web tokens=2.0/2 queue=199"),
	             1, "%s", result.records);
	cr_expect_eq(records_with(&result, "event=loaded"), 1);
	run_probe(&probe, OBSERVE, &result);
	cr_expect_eq(records_with(&result, "event=would-turn-away"), 1);
	probe.log = "target = syslog\ninterval = 0";
	run_probe(&probe, ENFORCE, &result);
	/* Some are lost when they come faster than this driver reads. */
	cr_expect_gt(records_with(&result, "event=turned-away"), 3);
	cr_expect_leq(records_with(&result, "event=turned-away"), 198);
}

Test(door, a_changed_file)
{
	static struct result result;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/door.ini", scratch());
	file = fopen(path, "we");
	cr_assert_not_null(file);
	fputs("[retrybudget]\nreload = 1ms\n[log]\ntarget = none\n[destination default]\n" DOOR(
		  "2", "reset"),
	      file);
	fclose(file);
	run_probe(&(struct probe) { .program = "door_loop",
	                            .arguments = { "reload" },
	                            .configuration = path },
	          ENFORCE, &result);
	if (result.code == 77)
		cr_skip_test("no network of its own here");
	cr_expect_str_eq(result.out,
	                 "clients: served 2 reset 3\nclients: served 1\nclients: served 1\n"
	                 "clients: served 1\nclients: served 1\n");
}
