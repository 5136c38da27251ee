/* SPDX-License-Identifier: MIT */
/* TCP Fast Open: connects that are made by a send, or reported before they are made. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define POLICY  "base = 1ms\nfactor = 1\ncap = 1ms\njitter = none\nmin = 1ms\n"
#define REFUSES "base = 1s\nfactor = 1\ncap = 1s\njitter = none\nmin = 1ms\nnonblocking = "

#define TEXT(in_syn, third, option) TEXT_OF(in_syn, third, option, "3")
#define TEXT_OF(in_syn, third, option, connects)                                                   \
	"served: ok, request: 5, reply: 5 5\nrequest in the SYN: no\n"                             \
	"served: ok, request: 5, reply: 5 5\nrequest in the SYN: " in_syn "\n"                     \
	"refused: ECONNREFUSED\nrefused: ECONNREFUSED\nrefused: " third "\n"                       \
	"the same socket: ok, request: 5, reply: 5 5\n" option                                     \
	"another: ok, request: 5, reply: 5 5\nconnects while it was down: " connects "\n"

TestSuite(fastopen, .fini = discard_scratch);

/* How many of its attempts the shim took for what. Each failure is answered by one retry: one that
 * was counted twice would make a retry of the last attempt too. */
static void judged(const struct result *result, int first, int retries, const char *policy)
{
	cr_expect_eq(records_with(result, "kind=first"), first, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), retries, "%s", result->records);
	cr_expect_eq(records_with(result, "class=refused"), records_with(result, "class="));
	cr_expect_eq(records_with(result, "event=throttled"), policy ? 1 : 0, "%s",
	             result->records);
}

static void blocking(struct probe probe, const char *text)
{
	probe.policy = POLICY;
	judged(expect(&probe, text, NULL), 4, 3, NULL);
}

Test(fastopen, sendto)
{
	blocking((struct probe) { .program = "fastopen", .arguments = { "plain" } },
	         TEXT("no", "ECONNREFUSED", ""));
}

Test(fastopen, sendto_with_a_cookie)
{
	blocking((struct probe) { .program = "fastopen", .arguments = { "cookie" } },
	         TEXT("yes", "ECONNREFUSED", ""));
}

Test(fastopen, sendto_v6_with_a_cookie)
{
	blocking((struct probe) { .program = "fastopen", .arguments = { "v6", "cookie" } },
	         TEXT("yes", "ECONNREFUSED", ""));
}

Test(fastopen, sendmsg_with_a_cookie)
{
	blocking((struct probe) { .program = "fastopen", .arguments = { "message", "cookie" } },
	         TEXT("yes", "ECONNREFUSED", ""));
}

Test(fastopen, option)
{
	blocking((struct probe) { .program = "fastopen", .arguments = { "option" } },
	         TEXT("no", "ECONNREFUSED", "option: 1\n"));
}

Test(fastopen, option_with_a_cookie)
{
	blocking((struct probe) { .program = "fastopen", .arguments = { "option", "cookie" } },
	         TEXT("yes", "ECONNREFUSED", "option: 1\n"));
}

/* Before its backoff is over the third one is refused, without a packet. */
static void refused(struct probe probe, const char *in_syn, const char *option)
{
	static char plain[1024], held[1024];

	snprintf(plain, sizeof(plain), TEXT("%s", "ECONNREFUSED", "%s"), in_syn, option);
	snprintf(held, sizeof(held), TEXT_OF("%s", "ECONNREFUSED", "%s", "2"), in_syn, option);
	probe.policy = REFUSES "park\n";
	judged(expect(&probe, plain, held), 4, 3, REFUSES);
}

Test(fastopen, refused)
{
	refused((struct probe) { .program = "fastopen", .arguments = { "cookie" } }, "yes", "");
}

Test(fastopen, refused_option)
{
	refused((struct probe) { .program = "fastopen", .arguments = { "option", "cookie" } },
	        "yes", "option: 1\n");
}

/* Parked as the kernel answers without a cookie: EINPROGRESS, and the error a second later. */
static void parked(struct probe probe, const char *in_syn, const char *option)
{
	static char plain[1024], held[1024];
	const struct result *result;

	snprintf(plain, sizeof(plain), TEXT_OF("%s", "%s", "%s", "0"), in_syn, "ECONNREFUSED",
	         option);
	snprintf(held, sizeof(held), TEXT_OF("%s", "%s", "%s", "0"), in_syn, "ETIMEDOUT", option);
	probe.policy = REFUSES "park\n";
	result = expect(&probe, plain, held);
	cr_expect_eq(records_with(result, "kind=first"), 4, "%s", result->records);
	cr_expect_eq(records_with(result, "event=throttled"), 1, "%s", result->records);
	probe.policy = REFUSES "redirect\n";
	result = expect(&probe, plain, NULL);
	cr_expect_eq(records_with(result, "kind=first"), 4, "%s", result->records);
	cr_expect_eq(records_with(result, "event=throttled"), 1, "%s", result->records);
}

Test(fastopen, parked, .timeout = 60)
{
	parked((struct probe) { .program = "fastopen", .arguments = { "storm", "nonblocking" } },
	       "no", "");
}

Test(fastopen, parked_with_a_cookie, .timeout = 60)
{
	parked((struct probe) { .program = "fastopen",
	                        .arguments = { "storm", "nonblocking", "cookie" } },
	       "yes", "");
}

Test(fastopen, parked_v6_with_a_cookie, .timeout = 60)
{
	parked(
	    (struct probe) { .program = "fastopen",
	                     .arguments = { "storm", "nonblocking", "cookie", "v6", "message" } },
	    "yes", "");
}

/* A socket that blocks, and one call that must not. */
Test(fastopen, parked_on_a_blocking_socket, .timeout = 60)
{
	parked((struct probe) { .program = "fastopen",
	                        .arguments = { "storm", "dontwait", "cookie" } },
	       "yes", "");
}

Test(fastopen, parked_option, .timeout = 60)
{
	parked((struct probe) { .program = "fastopen",
	                        .arguments = { "storm", "option", "nonblocking" } },
	       "no", "option: 1\n");
}

Test(fastopen, parked_option_with_a_cookie, .timeout = 60)
{
	parked((struct probe) { .program = "fastopen",
	                        .arguments = { "storm", "option", "nonblocking", "cookie" } },
	       "yes", "option: 1\n");
}

/* Reported as done, never made, and given up after more than a second: no outcome at all. */
Test(fastopen, connect_that_was_never_made)
{
	struct probe probe = { .program = "fastopen",
		               .arguments = { "option", "cookie", "unsent" },
		               .policy = POLICY };

	judged(expect(&probe, TEXT("yes", "ECONNREFUSED", "option: 1\n"), NULL), 5, 3, NULL);
}
