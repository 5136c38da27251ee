/* SPDX-License-Identifier: MIT */
/* Holds inside blocking calls, and the ways out of them. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(waits, .fini = discard_scratch);

static void signal_comes(const char *which, const char *length)
{
	char held[128];

	snprintf(held, sizeof(held),
	         "first: ECONNREFUSED\nsecond: ECONNREFUSED, %s\nsignals handled: some\n", length);
	expect(&(struct probe) { .program = "wait_signal",
	                         .arguments = { which },
	                         .policy = GATE_SHUT("2s") },
	       "first: ECONNREFUSED\nsecond: ECONNREFUSED, at once\nsignals handled: some\n", held);
}

Test(waits, end_after_a_handler_with_restart)
{
	signal_comes("restart", "cut short");
}

Test(waits, end_after_a_handler_without_restart)
{
	signal_comes("interrupt", "cut short");
}

Test(waits, end_after_a_handler_that_takes_itself_off)
{
	signal_comes("once", "cut short");
}

Test(waits, go_on_when_another_thread_changes_the_user)
{
	signal_comes("setuid", "whole");
}

Test(waits, go_on_when_another_thread_changes_the_user_of_a_program_with_handlers)
{
	signal_comes("setuid-handler", "whole");
}

static void gap(const char *handler, const char *held)
{
	expect(&(struct probe) { .program = "wait_gap",
	                         .arguments = { handler },
	                         .policy = GATE_SHUT("2s") },
	       "first: ECONNREFUSED\nsecond: ECONNREFUSED, at once\nsignals handled: none\n", held);
}

/* A handler for faults of its own, of the other kind, says nothing about the alarm. */
Test(waits, lose_no_handler_between_two_slices)
{
	gap("interrupt",
	    "first: ECONNREFUSED\nsecond: ECONNREFUSED, cut short\nsignals handled: some\n");
}

Test(waits, lose_no_handler_between_two_slices_of_a_bounded_connect)
{
	gap("timed",
	    "first: ECONNREFUSED\nsecond: ECONNREFUSED, cut short\nsignals handled: some\n");
}

Test(waits, lose_no_handler_with_restart_between_two_slices)
{
	gap("restart",
	    "first: ECONNREFUSED\nsecond: ECONNREFUSED, cut short\nsignals handled: some\n");
}

/* One token but for the first repeat, no floor, a probe far away: what the jumps lost would be
 * missing. */
Test(waits, leave_nothing_behind_after_a_jump)
{
	expect(&(struct probe) { .program = "wait_jump",
	                         .policy = "base = 6s\ncap = 6s\njitter = none\nhold = 10s\n"
	                                   "capacity = 2\nfloor = 0/s\nearn = 0\nprobe = 60s\n" },
	       "first: ECONNREFUSED\njumped out: 0\ndescriptors left: 0\nmappings left: 0\n"
	       "signal mask: same\ncancel state: enabled\nserver back: ok\nagain: ok\n",
	       "first: ECONNREFUSED\njumped out: 8\ndescriptors left: 0\nmappings left: 0\n"
	       "signal mask: same\ncancel state: enabled\nserver back: ok\nagain: ok\n");
}

/* What the alarm left half done: the connect goes on, and the answer ends the streak. */
Test(waits, count_an_answer_after_a_jump_out_of_the_connect)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "connect_jump",
	                             .policy = "base = 1ms\ncap = 1ms\nmin = 1ms\n" },
	           "again: ok\nanswer: came\n", NULL);

	cr_expect_eq(records_with(result, "event=recovered"), 1);
}

Test(waits, are_cancellation_points)
{
	expect(&(struct probe) { .program = "wait_cancel",
	                         .arguments = { "enabled" },
	                         .policy = GATE_SHUT("10s") },
	       "ended: cancelled\nconnect: returned, cancelled soon\nclean-up handlers run: 1\n"
	       "descriptors left: 0\n",
	       "ended: cancelled\nconnect: did not return, cancelled soon\n"
	       "clean-up handlers run: 1\ndescriptors left: 0\n");
}

Test(waits, respect_disabled_cancellation)
{
	expect(&(struct probe) { .program = "wait_cancel",
	                         .arguments = { "disabled" },
	                         .policy = GATE_SHUT("2s") },
	       "ended: cancelled\nconnect: ECONNREFUSED, at once\nclean-up handlers run: 1\n"
	       "descriptors left: 0\n",
	       "ended: cancelled\nconnect: ECONNREFUSED, whole\nclean-up handlers run: 1\n"
	       "descriptors left: 0\n");
}

/* Each call that blocks, cancelled in the middle: the hook makes the real call, never its own. */
Test(waits, of_the_program_are_cancelled_as_bare)
{
	expect_same(&(struct probe) { .program = "cancelled" });
}

Test(waits, go_on_while_another_thread_forks)
{
	expect(&(struct probe) { .program = "fork_in_wait", .policy = GATE_SHUT("2s") },
	       "descriptors too many in the child: none\n"
	       "child: exit 0, signal 0, works, refused by ECONNREFUSED\n"
	       "parent: ECONNREFUSED, at once\n",
	       "descriptors too many in the child: none\n"
	       "child: exit 0, signal 0, works, refused by ECONNREFUSED\n"
	       "parent: ECONNREFUSED, whole\n");
}

Test(waits, are_bounded_by_the_send_timeout)
{
	expect(&(struct probe) { .program = "sndtimeo", .policy = GATE_SHUT("5s") },
	       "first: ECONNREFUSED\nsecond: ECONNREFUSED, at once\noption: kept\n",
	       "first: ECONNREFUSED\nsecond: ECONNREFUSED, in time\noption: kept\n");
}

/* What overflows must not be taken for no time at all. */
Test(waits, are_not_cut_short_by_a_send_timeout_without_end)
{
	expect(&(struct probe) { .program = "sndtimeo",
	                         .arguments = { "never" },
	                         .policy = GATE_SHUT("1s") },
	       "first: ECONNREFUSED\nsecond: ECONNREFUSED, at once\noption: kept\n",
	       "first: ECONNREFUSED\nsecond: ECONNREFUSED, in time\noption: kept\n");
}

Test(waits, end_early_when_the_destination_is_back)
{
	expect(&(struct probe) { .program = "release", .policy = GATE_SHUT("10s") },
	       "scout: served\nwaiters served: 0\n",
	       "scout: served\nwaiters served: 4\nreleased: early\ninstants: spread\n");
}

/* Nothing to pay with, and who spins is held for a quarter of a second each time. */
#define EMPTY                                                                                      \
	"capacity = 1\nstart = 0%\nfloor = 0/s\nearn = 0\nprobe = 60s\nhold = 250ms\n"             \
	"base = 100ms\ncap = 100ms\nfactor = 1\n"

Test(refusals, are_paced, .fini = discard_scratch)
{
	expect(&(struct probe) { .program = "paced", .arguments = { "tcp" }, .policy = EMPTY },
	       "calls: a spin\nother errors than ECONNREFUSED: 0\n"
	       "attempts that left the program: more\n",
	       "calls: paced\nother errors than ECONNREFUSED: 0\n"
	       "attempts that left the program: the first try\n");
}

Test(refusals, are_paced_on_unix_sockets, .fini = discard_scratch)
{
	expect(&(struct probe) { .program = "paced", .arguments = { "unix" }, .policy = EMPTY },
	       "calls: a spin\nother errors than ECONNREFUSED: 0\n",
	       "calls: paced\nother errors than ECONNREFUSED: 0\n");
}

/* Without a token, too: what answers one thread is not kept from another. */
Test(refusals, end_when_others_are_served, .fini = discard_scratch)
{
	expect(&(struct probe) { .program = "paced", .arguments = { "back" }, .policy = EMPTY },
	       "refusals: none\n", NULL);
}

Test(refusals, give_the_last_real_error, .fini = discard_scratch)
{
	expect(&(struct probe) { .program = "paced", .arguments = { "missing" }, .policy = EMPTY },
	       "calls: a spin\nother errors than ENOENT: 0\n",
	       "calls: paced\nother errors than ENOENT: 0\n");
}

/* A loop that slow failures pace asks a server that is well no more often than bare. */
Test(refusals, make_no_storm_elsewhere, .fini = discard_scratch)
{
	expect(&(struct probe) { .program = "ahead", .arguments = { "blocking" } },
	       "asked: as bare\nnot served: 0\n", NULL);
}

Test(refusals, that_do_not_block_make_no_storm_elsewhere, .fini = discard_scratch)
{
	expect(&(struct probe) { .program = "ahead", .arguments = { "nonblocking" } },
	       "asked: as bare\nnot served: 0\n", NULL);
}

/* Waits of the smallest size, so that only tokens throttle anything. */
#define FAST                                                                                       \
	"base = 1ms\ncap = 1ms\nmin = 1ms\nfactor = 1\njitter = none\nfloor = 0/s\nearn = 0\n"     \
	"probe = 60s\nhold = 50ms\n"

Test(budget, is_shared_by_forked_children, .fini = discard_scratch)
{
	expect(&(struct probe) { .program = "fork_budget",
	                         .arguments = { "8", "1500", "18" },
	                         .policy = FAST "capacity = 10\n" },
	       "children with a wrong errno: 0\n"
	       "attempts that left the program: more than first tries and tokens\n",
	       "children with a wrong errno: 0\n"
	       "attempts that left the program: first tries and tokens\n");
}

/* Two copies of the library under two names: the second must step aside, else every retry would be
 * paid twice and half of them would be missing. */
Test(budget, is_charged_once_with_two_copies_loaded, .fini = discard_scratch)
{
	char command[8192], preload[8192];

	snprintf(command, sizeof(command), "cp %s %s/second.so", built("libretrybudget.so"),
	         scratch());
	output_of(command);
	snprintf(preload, sizeof(preload), "%%s:%s/second.so", scratch());
	for (enum how how = ENFORCE; how < WAYS; how++) {
		static struct result result;
		struct probe probe = { .program = "fork_budget",
			               .arguments = { "1", "1000", "7" },
			               .policy = FAST "capacity = 6\n",
			               .preload = preload };

		run_probe(&probe, how, &result);
		if (result.exited && result.code == 77)
			cr_skip_test("no network of our own here");
		cr_expect_str_eq(result.out,
		                 "children with a wrong errno: 0\n"
		                 "attempts that left the program: first tries and tokens\n");
		cr_expect_eq(result.code, 0);
		/* A copy that is at work writes this before its first retry. */
		cr_expect_eq(records_with(&result, "event=loaded"), 1);
	}
}

/* Every refusal is traced here, in parents and children alike. */
Test(waits, of_forked_children_end_while_threads_are_traced, .timeout = 180)
{
	expect(&(struct probe) { .program = "fork_traced",
	                         .policy = "base = 1ms\ncap = 1ms\nmin = 1ms\ncapacity = 1\n"
	                                   "floor = 0/s\nprobe = 1h\nhold = 1ms\n",
	                         .log = "trace = 8\ninterval = 0\n",
	                         .seconds = 40 },
	       "children that hung: 0\n", NULL);
}

Test(waits, and_jumps_during_a_reload_leave_nothing_behind, .timeout = 60)
{
	static struct result result;
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/reload.ini", scratch());
	file = fopen(path, "we");
	cr_assert_not_null(file);
	fputs("[retrybudget]\nreload = 1ms\n[log]\ntarget = none\n[destination default]\n"
	      "base = 1ms\ncap = 3ms\nmin = 1ms\n",
	      file);
	for (int i = 0; i < 300; i++)
		fprintf(file, "; %0190d\n", i);
	fclose(file);
	run_probe(&(struct probe) { .program = "reload_jump", .configuration = path }, ENFORCE,
	          &result);
	cr_assert_str_eq(result.out, "descriptors left: 0\ncancel state: enabled\n");
}
