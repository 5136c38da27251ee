/* SPDX-License-Identifier: MIT */
/* [admission] sections: what servers and their clients see of them, whatever the server is like.
 */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* So many come in, and then none. The clients, which are children of the probe, are left alone. */
#define ADMISSION(burst, reply)                                                                    \
	"mode = off\n[admission web]\nlisten = :8080, unix:@retrybudget-admission\nrate = "        \
	"0.001/s\nburst = " burst "\nretry_after = 6500ms\nreply = " reply "\n"

TestSuite(admission, .fini = discard_scratch);

Test(admission, a_reset_for_whom_it_rejects)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "interrupt" },
	                         .policy = ADMISSION("3", "reset") },
	       "accept ended: EINTR after 1 signals\nclients: served 10\n",
	       "accept ended: EINTR after 1 signals\nclients: served 3 reset 7\n");
}

Test(admission, an_end_for_whom_it_rejects)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "interrupt" },
	                         .policy = ADMISSION("3", "close") },
	       "accept ended: EINTR after 1 signals\nclients: served 10\n",
	       "accept ended: EINTR after 1 signals\nclients: served 3 end 7\n");
}

/* 6.5 s are told as 7. */
Test(admission, a_503_for_whom_it_rejects)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "interrupt" },
	                         .policy = ADMISSION("3", "http") },
	       "accept ended: EINTR after 1 signals\nclients: served 10\n",
	       "accept ended: EINTR after 1 signals\nclients: served 3 503 7\n");
}

Test(admission, a_handler_with_restart_does_not_end_accept)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "restart" },
	                         .policy = ADMISSION("1", "reset") },
	       "accept ended: EINTR after 2 signals\nclients: served 10\n",
	       "accept ended: EINTR after 2 signals\nclients: served 1 reset 9\n");
}

Test(admission, of_a_unix_socket)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "unix" },
	                         .policy = ADMISSION("4", "http") },
	       "accept ended: EINTR after 1 signals\nclients: served 10\n",
	       "accept ended: EINTR after 1 signals\nclients: served 4 503 6\n");
}

Test(admission, shared_by_forked_children)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "prefork" },
	                         .policy = ADMISSION("5", "close") },
	       "clients: served 40\n", "clients: served 5 end 35\n");
}

Test(admission, address_and_flags_of_those_who_come_in)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "flags" },
	                         .policy = ADMISSION("1", "reset") },
	       "length 16 family 2 cloexec 1 nonblocking 1\nEAGAIN, length 128\nall answered: 1\n",
	       "length 16 family 2 cloexec 1 nonblocking 1\nEAGAIN, length 128\n"
	       "all answered: 1\n");
}

Test(admission, a_jump_out_of_accept_leaves_nothing_behind)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "jump" },
	                         .policy = ADMISSION("2", "http") },
	       "descriptors left: few\nmask: same\ncancel state: enabled\nunanswered: few\n", NULL);
}

Test(admission, accept_stays_a_cancellation_point)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "cancel" },
	                         .policy = ADMISSION("3", "reset") },
	       "cancelled\ndescriptors left: 0\nclients: served 10\n",
	       "cancelled\ndescriptors left: 0\nclients: served 3 reset 7\n");
}

Test(admission, the_timeout_of_a_listening_socket_holds)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "timeout" },
	                         .policy = ADMISSION("1", "reset") },
	       "accepted\n", "EAGAIN in time\n");
}

Test(admission, an_inherited_socket)
{
	expect(&(struct probe) { .program = "admission_waits",
	                         .arguments = { "inherited" },
	                         .policy = ADMISSION("2", "reset") },
	       "waiting: served 3\nlater: served 3\n",
	       "waiting: served 2 reset 1\nlater: reset 3\n");
}

/* 198 are rejected, 64 in one call at most. */
Test(admission, poll_and_one_accept)
{
	expect(&(struct probe) { .program = "admission_loop",
	                         .arguments = { "level" },
	                         .policy = ADMISSION("2", "reset") },
	       "clients: served 200\naborted 0, other 0\n",
	       "clients: served 2 reset 198\naborted 3, other 0\n");
}

#define FIVE(seen) seen seen seen seen seen

Test(admission, edges_of_epoll)
{
	expect(
	    &(struct probe) { .program = "admission_loop",
	                      .arguments = { "edge" },
	                      .policy = ADMISSION("2", "close") },
	    "clients: served 200\n" FIVE("clients: served 1\n") "edges 5, aborted 0, other 0\n",
	    "clients: served 2 end 198\n" FIVE("clients: end 1\n") "edges 5, aborted 3, other 0\n");
}

Test(admission, select_before_a_blocking_accept)
{
	expect(&(struct probe) { .program = "admission_loop",
	                         .arguments = { "select" },
	                         .policy = ADMISSION("1", "reset") },
	       "came back: aborted 0, other 0\nthe first: served\nclients: served 3\n",
	       "came back: aborted 1, other 0\nthe first: served\nclients: reset 3\n");
}

/* One record per interval, with the count of the others in the next. */
Test(admission, records)
{
	static struct result result;
	struct probe probe = { .program = "admission_loop",
		               .arguments = { "level" },
		               .policy = ADMISSION("2", "reset") };

	run_probe(&probe, ENFORCE, &result);
	if (result.code == 77)
		cr_skip_test("no network of its own here");
	cr_expect_eq(records_with(&result,
	                          "event=rejected prog=admission_loop "
	                          "listen=127.0.0.1:8080 policy=web tokens=2.0/2 queue=199"),
	             1, "%s", result.records);
	cr_expect_eq(records_with(&result, "event=loaded"), 1);
	run_probe(&probe, OBSERVE, &result);
	cr_expect_eq(records_with(&result, "event=would-reject"), 1);
	probe.log = "target = syslog\ninterval = 0";
	run_probe(&probe, ENFORCE, &result);
	/* Some are lost when they come faster than this driver reads. */
	cr_expect_gt(records_with(&result, "event=rejected"), 3);
	cr_expect_leq(records_with(&result, "event=rejected"), 198);
}

Test(admission, a_changed_file)
{
	static struct result result;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/admission.ini", scratch());
	file = fopen(path, "we");
	cr_assert_not_null(file);
	fputs(
	    "[retrybudget]\nreload = 1ms\n[log]\ntarget = none\n[destination default]\n" ADMISSION(
		"2", "reset"),
	    file);
	fclose(file);
	run_probe(&(struct probe) { .program = "admission_loop",
	                            .arguments = { "reload" },
	                            .configuration = path },
	          ENFORCE, &result);
	if (result.code == 77)
		cr_skip_test("no network of its own here");
	cr_expect_str_eq(result.out,
	                 "clients: served 2 reset 3\nclients: served 1\nclients: served 1\n"
	                 "clients: served 1\nclients: served 1\n");
}
