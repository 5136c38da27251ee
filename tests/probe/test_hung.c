/* SPDX-License-Identifier: MIT */
/* reply_timeout. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define REPLY "reply_timeout = 1200ms\n"
#define RESET REPLY "reply_errno = ECONNRESET\n"

TestSuite(reply_timeout, .fini = discard_scratch);

static void hung(const char *what, const char *plain, const char *held)
{
	expect(
	    &(struct probe) {
		.program = "hung", .arguments = { what }, .policy = REPLY, .seconds = 60 },
	    plain, held);
}

/* Only under the shim: bare it would never end. wanted: what it is to say; NULL: anything. */
static const struct result *held(const char *what, const char *call, const char *policy,
                                 const char *wanted)
{
	static struct result result;
	struct probe probe = { .program = "hung", .arguments = { what, call }, .policy = policy };

	run_to_say(&probe, ENFORCE, &result, wanted);
	cr_assert(result.exited && result.code == 0, "%s%s", result.out, result.err);
	if (wanted)
		cr_expect_str_eq(result.out, wanted, "%s", call);
	return &result;
}

Test(reply_timeout, ends_a_read_and_not_the_connection)
{
	hung("ends", "read: EINTR, late\nagain: EINTR, late\nanswer: ok, early\n",
	     "read: EAGAIN, in time\nagain: EAGAIN, in time\nanswer: ok, early\n");
}

Test(reply_timeout, holds_for_every_call_that_reads)
{
	static const char *const calls[] = { "peek",   "recvfrom",    "recvmsg",  "recvmmsg",
		                             "read",   "readv",       "recv_chk", "read_chk",
		                             "splice", "recvfrom_chk" };

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		held("ends", calls[i], REPLY,
		     "read: EAGAIN, in time\nagain: EAGAIN, in time\nanswer: ok, early\n");
}

Test(reply_timeout, kills_the_connection_where_it_says_reset)
{
	held("resets", "recv", RESET,
	     "read: ECONNRESET, in time\nagain: end of file, early\nwrite: EPIPE\n"
	     "server sees: 1, 0\n");
}

/* What follows is a retry, and what follows that is none. */
Test(reply_timeout, counts_as_one_failure)
{
	const struct result *result = held("counts", "read", REPLY, NULL);

	cr_expect_eq(records_with(result, "kind=first"), 2, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "class=timeout"), 1, "%s", result->records);
	cr_expect(strstr(result->out, " timeout=1 ") && strstr(result->out, " failures=1\n"), "%s",
	          result->out);
}

Test(reply_timeout, counts_as_one_failure_where_it_says_reset)
{
	const struct result *result = held("counts", "read", RESET, NULL);

	cr_expect_eq(records_with(result, "kind=first"), 2, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "class=timeout"), 1, "%s", result->records);
	cr_expect(strstr(result->out, " timeout=1 ") && strstr(result->out, " failures=1\n"), "%s",
	          result->out);
}

Test(reply_timeout, holds_for_later_requests)
{
	hung("second", "first: ok, early\nsecond: EINTR, late\n",
	     "first: ok, early\nsecond: EAGAIN, in time\n");
}

Test(reply_timeout, holds_for_a_greeting)
{
	hung("greeting", "greeting: EINTR, late\n", "greeting: EAGAIN, in time\n");
}

Test(reply_timeout, leaves_an_answer_that_has_begun)
{
	hung("slow", "first byte: ok, early\nthe rest: EINTR, late\n", NULL);
}

Test(reply_timeout, yields_to_a_shorter_receive_timeout)
{
	hung("short", "read: EAGAIN, at its own time\nafter: 400\n", NULL);
}

Test(reply_timeout, is_shorter_than_a_long_receive_timeout)
{
	hung("long", "read: EAGAIN, at its own time\nafter: 2500\n",
	     "read: EAGAIN, before its own time\nafter: 2500\n");
}

Test(reply_timeout, leaves_everything_else)
{
	hung("others",
	     "accepted: ok, early\nflag: EAGAIN\nnon-blocking: EAGAIN, early\nnothing: 0\n"
	     "waits: EINTR, late\nwaits: EINTR, late\nwaits: EINTR, late\nwaits: EINTR, late\n",
	     NULL);
}

Test(reply_timeout, leaves_a_number_that_was_reused_unseen)
{
	hung("unseen", "pair: EINTR, late\n", NULL);
}

Test(reply_timeout, outlasts_handlers_with_restart)
{
	held("restart", "recv", REPLY, "read: EAGAIN, in time\nhandled: several\n");
}

Test(reply_timeout, leaves_other_handlers_to_end_the_call)
{
	hung("interrupt", "read: EINTR, early\nanswer: ok, early\n", NULL);
}

Test(reply_timeout, leaves_nothing_behind_after_a_jump)
{
	hung("jump", "answer: ok, early\ndescriptors left: 0, SO_RCVTIMEO: 0\n", NULL);
}

Test(reply_timeout, is_a_cancellation_point)
{
	hung("cancel", "ended: cancelled\nanswer: ok, early\n", NULL);
}

Test(reply_timeout, holds_in_a_forked_child)
{
	hung("child", "child: EINTR, late\nparent: ok, early\n",
	     "child: EAGAIN, in time\nparent: ok, early\n");
}
