/* SPDX-License-Identifier: MIT */
/* Requests sent again on a kept connection after an HTTP/1 reply of failure. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* What the server asks for is all that throttles anything. A repeat before its time finds the
 * connection ended, as an idle server would end it. */
#define POLICY "http = on\nbase = 1ms\ncap = 1ms\nmin = 1ms\nfactor = 1\njitter = none\n"

TestSuite(http, .fini = discard_scratch);

/* Of a file nobody can say that it was sent, and it stays where it is. */
#define HELD(end)                                                                                  \
	"503, at once\n" end ", at once\n" end ", at once\n" end ", at once\nconnections: 1\n"

static void kept(const char *call, const char *reading)
{
	expect(&(struct probe) { .program = "http_kept",
	                         .arguments = { call, reading },
	                         .policy = POLICY },
	       "503, at once\n503, at once\n200, at once\n200, at once\nconnections: 1\n",
	       strcmp(call, "sendfile") == 0 ? HELD("ECONNRESET") : HELD("end of file"));
}

#define SENT_BY(call)                                                                              \
	Test(http, sent_by_##call)                                                                 \
	{                                                                                          \
		kept(#call, "recv");                                                               \
	}
#define READ_BY(call)                                                                              \
	Test(http, read_by_##call)                                                                 \
	{                                                                                          \
		kept("send", #call);                                                               \
	}

SENT_BY(send)
SENT_BY(sendto)
SENT_BY(write)
SENT_BY(writev)
SENT_BY(sendmsg)
SENT_BY(sendmmsg)
SENT_BY(sendfile)
READ_BY(bytes)
READ_BY(peek)
READ_BY(read)
READ_BY(readv)
READ_BY(recvfrom)
READ_BY(recvmsg)
READ_BY(recvmmsg)

static void scene(const char *name, const char *more, const char *plain, const char *held)
{
	char policy[512];

	snprintf(policy, sizeof(policy), POLICY "%s", more);
	expect(&(struct probe) { .program = "http_kept", .arguments = { name }, .policy = policy },
	       plain, held);
}

Test(http, on_a_socket_that_must_not_wait_looks_closed)
{
	scene("nonblocking", "",
	      "503, at once\nsent: all\nthen: a reply\nsent: all\nrequests at the server: 3\n"
	      "connections: 1\n",
	      "503, at once\nsent: all\nthen: end of file\nsent: all\nrequests at the server: 1\n"
	      "connections: 1\n");
}

Test(http, on_a_socket_that_must_not_wait_may_fail)
{
	scene("nonblocking", "http_deny = reset\nsample = 0%\n",
	      "503, at once\nsent: all\nthen: a reply\nsent: all\nrequests at the server: 3\n"
	      "connections: 1\n",
	      "503, at once\nsent: ECONNRESET\nthen: EAGAIN\nsent: ECONNRESET\n"
	      "requests at the server: 1\nconnections: 1\n");
}

Test(http, on_a_socket_that_must_not_wait_may_pass)
{
	scene("nonblocking", "http_deny = pass\n",
	      "503, at once\nsent: all\nthen: a reply\nsent: all\nrequests at the server: 3\n"
	      "connections: 1\n",
	      NULL);
}

Test(http, pipelined_replies_are_one_exchange)
{
	scene("pipelined", "", "two at once, at once\n200, at once\nconnections: 1\n",
	      "two at once, at once\nend of file, at once\nconnections: 1\n");
}

/* The breaker holds whatever goes by the kept connections: the first tries of five, too. */
Test(http, a_breaker_holds_first_tries_on_kept_connections)
{
	const struct result *result = expect(
	    &(struct probe) {
		.program = "http_breaker",
		.policy =
		    POLICY "capacity = 1000\nbreaker = on\nbreaker_failures = 3\nbreaker_rate = 0\n"
			   "breaker_open = 900ms\nbreaker_probes = 1\nbreaker_successes = 4\n" },
	    "503\n503\n503\nwithout a request while it was open: no\n"
	    "in flight until it was closed: several\nrequests: 11, served: 6\n",
	    "503\n503\n503\nwithout a request while it was open: yes\n"
	    "in flight until it was closed: one\nrequests: 11, served: 6\n");

	cr_expect_eq(records_with(result, "event=breaker-open"), 3, "%s", result->records);
	cr_expect_eq(records_with(result, "event=breaker-half-open"), 3, "%s", result->records);
	cr_expect_eq(records_with(result, "event=breaker-closed"), 1, "%s", result->records);
}
