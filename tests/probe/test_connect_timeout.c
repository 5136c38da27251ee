/* SPDX-License-Identifier: MIT */
/* connect_timeout. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define CONNECT "connect_timeout = 1500ms\nmin = 1ms\nbase = 1ms\ncap = 1ms\n"
#define CLEAN   "SO_SNDTIMEO 0, TCP_USER_TIMEOUT 0\n"

TestSuite(connect_timeout, .fini = discard_scratch);

static const struct result *timeout(const char *what, const char *family, const char *plain,
                                    const char *held)
{
	return expect(&(struct probe) { .program = "connect_timeout",
	                                .arguments = { what, family },
	                                .policy = CONNECT },
	              plain, held);
}

/* The timeout is a failure like the kernel's own: what follows is a retry. */
static void gives_up(const char *what, const char *family, const char *pending)
{
	const char *plain = "connect: EINTR, late\nafter: " CLEAN "again: ok\nconnected: " CLEAN;
	char held[256];
	const struct result *result;

	snprintf(held, sizeof(held),
	         "connect: ETIMEDOUT, in time\nafter: %s%sagain: ok\nconnected: %s", CLEAN, pending,
	         CLEAN);
	result = timeout(what, family, plain, held);
	cr_expect_eq(records_with(result, "kind=first"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 1, "%s", result->records);
}

Test(connect_timeout, ends_a_connect_that_nobody_answers)
{
	gives_up("gives-up", "inet", "pending error: ok\n");
}

Test(connect_timeout, ends_one_by_ipv6)
{
	gives_up("gives-up", "inet6", "pending error: ok\n");
}

Test(connect_timeout, ends_one_to_a_full_unix_socket)
{
	gives_up("gives-up", "unix", "");
}

Test(connect_timeout, ends_a_send_that_connects)
{
	gives_up("gives-up", "fastopen", "pending error: ok\n");
}

Test(connect_timeout, ends_one_of_a_forked_child)
{
	gives_up("child", "inet", "pending error: ok\n");
}

/* Bare it would take two minutes, or for ever. */
static void goes_on(const char *family)
{
	struct probe probe = { .program = "connect_timeout",
		               .arguments = { "restart", family },
		               .policy = CONNECT };
	static struct result result;
	static const char wanted[] = "connect: ETIMEDOUT, in time\nhandled: several\nafter: " CLEAN;

	run_to_say(&probe, ENFORCE, &result, wanted);
	cr_assert(result.exited && result.code == 0, "%s%s", result.out, result.err);
	cr_expect_str_eq(result.out, wanted);
}

Test(connect_timeout, outlasts_handlers_with_restart)
{
	goes_on("inet");
}

Test(connect_timeout, outlasts_handlers_with_restart_on_unix_sockets)
{
	goes_on("unix");
}

Test(connect_timeout, leaves_other_handlers_to_end_the_call)
{
	const char *same = "connect: EINTR, early\nin the end: ok\nafter: " CLEAN;

	timeout("interrupt", "inet", same, same);
}

Test(connect_timeout, leaves_other_handlers_to_end_the_call_on_unix_sockets)
{
	const char *same = "connect: EINTR, early\nagain: ok\nafter: " CLEAN;

	timeout("interrupt", "unix", same, same);
}

/* Whatever the program does next with the socket, our option comes off. */
Test(connect_timeout, leaves_nothing_behind_after_a_jump_and_a_question)
{
	timeout("jump-asks", "inet", "asks: ok\nafter: " CLEAN, "asks: ok\nafter: " CLEAN);
}

Test(connect_timeout, leaves_nothing_behind_after_a_jump_and_a_second_connect)
{
	timeout("jump-connects", "inet", "connects: ok\nafter: " CLEAN,
	        "connects: ok\nafter: " CLEAN);
}

Test(connect_timeout, leaves_nothing_behind_after_a_jump_and_a_send)
{
	timeout("jump-sends", "inet", "sends: ok\nafter: " CLEAN, "sends: ok\nafter: " CLEAN);
}

Test(connect_timeout, leaves_nothing_behind_on_a_unix_socket)
{
	timeout("jump-connects", "unix", "connects: ok\nafter: " CLEAN,
	        "connects: ok\nafter: " CLEAN);
}

Test(connect_timeout, leaves_nothing_behind_when_cancelled)
{
	const char *same = "ended: cancelled\nin the end: ok\nafter: " CLEAN;

	timeout("cancel", "inet", same, same);
}

Test(connect_timeout, leaves_nothing_behind_when_cancelled_on_a_unix_socket)
{
	const char *same = "ended: cancelled\nin the end: ok\nafter: " CLEAN;

	timeout("cancel", "unix", same, same);
}

Test(connect_timeout, yields_to_a_shorter_send_timeout)
{
	const char *same = "connect: EINPROGRESS, after its own time\n"
			   "after: SO_SNDTIMEO 500, TCP_USER_TIMEOUT 0\n";

	timeout("short", "inet", same, same);
}

Test(connect_timeout, yields_to_a_shorter_send_timeout_on_unix_sockets)
{
	const char *same = "connect: EAGAIN, after its own time\n"
			   "after: SO_SNDTIMEO 500, TCP_USER_TIMEOUT 0\n";

	timeout("short", "unix", same, same);
}

Test(connect_timeout, is_shorter_than_a_long_send_timeout)
{
	timeout("long", "inet",
	        "connect: EINPROGRESS, after its own time\n"
	        "after: SO_SNDTIMEO 2500, TCP_USER_TIMEOUT 0\n",
	        "connect: ETIMEDOUT, before its own time\n"
	        "after: SO_SNDTIMEO 2500, TCP_USER_TIMEOUT 0\n");
}

Test(connect_timeout, leaves_a_user_timeout_of_the_host)
{
	const char *same = "connect: ETIMEDOUT, after its own time\n"
			   "after: SO_SNDTIMEO 0, TCP_USER_TIMEOUT 2500\n";

	timeout("user", "inet", same, same);
}

Test(connect_timeout, leaves_sockets_that_do_not_block)
{
	const char *same = "connect: EINPROGRESS\nafter: " CLEAN "later: EALREADY\n";

	timeout("nonblock", "inet", same, same);
}

Test(connect_timeout, leaves_unix_sockets_that_do_not_block)
{
	const char *same = "connect: EAGAIN\nafter: " CLEAN "later: -\n";

	timeout("nonblock", "unix", same, same);
}
