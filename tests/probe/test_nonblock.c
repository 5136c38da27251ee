/* SPDX-License-Identifier: MIT */
/* Non-blocking connects that are throttled: parked, redirected, and fit for use afterwards. */
#include "run.h"

#include <criterion/criterion.h>
#include <string.h>

#define POLICY                                                                                     \
	"base = 1s\nfactor = 1\ncap = 1s\njitter = none\nmin = 1ms\ncapacity = 1\nstart = 0%\n"    \
	"floor = 1/s\nnonblocking = "

#define TEXT(second, timeout)                                                                      \
	"first: EINPROGRESS, ECONNREFUSED after no time\nclose: 0\n"                               \
	"second: " second "\n"                                                                     \
	"third: EINPROGRESS, then ok\npeer: the server\ndata: 5 5\n"                               \
	"device: \"\", user timeout: " timeout "\nclose: 0\n"
#define PLAIN  "EINPROGRESS, ECONNREFUSED after no time"
#define PARKED "EINPROGRESS, pending, connect again: EALREADY, ETIMEDOUT after a second"

TestSuite(nonblocking, .fini = discard_scratch);

/* Each of these is what the socket is like; a refusal must be as that socket's own. */
static void parked(struct probe probe)
{
	probe.policy = POLICY "park\n";
	expect(&probe, TEXT(PLAIN, "0"), TEXT(PARKED, "0"));
}

Test(nonblocking, parked)
{
	parked((struct probe) { .program = "nonblock", .arguments = { "storm" } });
}

Test(nonblocking, parked_without_privileges)
{
	parked((struct probe) { .program = "nonblock", .arguments = { "storm", "unprivileged" } });
}

Test(nonblocking, parked_v6)
{
	parked((struct probe) { .program = "nonblock", .arguments = { "storm", "v6" } });
}

Test(nonblocking, parked_v6_without_privileges)
{
	parked((struct probe) { .program = "nonblock",
	                        .arguments = { "storm", "v6", "unprivileged" } });
}

Test(nonblocking, parked_bound)
{
	parked((struct probe) { .program = "nonblock", .arguments = { "storm", "bound" } });
}

Test(nonblocking, parked_v6_bound)
{
	parked((struct probe) { .program = "nonblock", .arguments = { "storm", "v6", "bound" } });
}

Test(nonblocking, parked_edge_triggered)
{
	parked((struct probe) { .program = "nonblock", .arguments = { "storm", "edge" } });
}

Test(nonblocking, parked_edge_triggered_registered_late)
{
	parked((struct probe) { .program = "nonblock", .arguments = { "storm", "late-edge" } });
}

/* Only IPv6: parked where the machine can, redirected else. Both are a kernel's own answers. */
Test(nonblocking, throttled_v6only)
{
	static struct result result;
	struct probe probe = { .program = "nonblock",
		               .arguments = { "v6only", "storm" },
		               .policy = POLICY "park\n" };
	bool good;

	expect(&(struct probe) { .program = "nonblock",
	                         .arguments = { "v6only", "storm" },
	                         .policy = POLICY "redirect\n" },
	       TEXT(PLAIN, "0"), NULL);
	run_probe(&probe, ENFORCE, &result);
	good =
	    strcmp(result.out, TEXT(PLAIN, "0")) == 0 || strcmp(result.out, TEXT(PARKED, "0")) == 0;
	cr_expect(good, "%s", result.out);
}

/* The program's own TCP_USER_TIMEOUT is not ours to replace: redirected instead, option kept. */
Test(nonblocking, user_timeout_of_the_host)
{
	const struct result *result = expect(&(struct probe) { .program = "nonblock",
	                                                       .arguments = { "timeout", "storm" },
	                                                       .policy = POLICY "park\n" },
	                                     TEXT(PLAIN, "12345"), NULL);

	cr_expect_geq(records_with(result, "event=throttled"), 1, "%s", result->records);
}

/* What would have to be taken off the socket again could not be remembered: it must stay without,
 * or no packet of the server would ever reach it. */
Test(nonblocking, beyond_the_table)
{
	/* Tokens for two: without an entry a connect that is only told of the last one pays, too.
	 */
	expect(&(struct probe) { .program = "nonblock",
	                         .arguments = { "beyond", "storm" },
	                         .policy = "base = 1s\nfactor = 1\ncap = 1s\njitter = none\n"
	                                   "capacity = 3\nstart = 0%\nfloor = 2/s\n" },
	       TEXT(PLAIN, "0"), NULL);
}

static void redirected(struct probe probe)
{
	const struct result *result;

	probe.policy = POLICY "redirect\n";
	result = expect(&probe, TEXT(PLAIN, "0"), NULL);
	cr_expect_eq(records_with(result, "event=throttled"), 1, "%s", result->records);
}

Test(nonblocking, redirected)
{
	redirected((struct probe) { .program = "nonblock" });
}

Test(nonblocking, redirected_without_privileges)
{
	redirected((struct probe) { .program = "nonblock", .arguments = { "unprivileged" } });
}

Test(nonblocking, redirected_v6)
{
	redirected((struct probe) { .program = "nonblock", .arguments = { "v6" } });
}

Test(nonblocking, redirected_bound)
{
	redirected((struct probe) { .program = "nonblock", .arguments = { "bound" } });
}

Test(nonblocking, redirected_edge_triggered)
{
	redirected((struct probe) { .program = "nonblock", .arguments = { "edge" } });
}

#define LOOP "first: " PLAIN "\nsecond: " PLAIN "\nthird: " PLAIN "\n"

static void loop(const char *policy, int paid)
{
	const struct result *result = expect(
	    &(struct probe) { .program = "nonblock", .arguments = { "loop" }, .policy = policy },
	    LOOP, NULL);

	cr_expect_eq(records_with(result, "kind=first"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 2, "%s", result->records);
	cr_expect_eq(records_with(result, "event=throttled"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "event=retrying"), paid, "%s", result->records);
}

#define ONE_TOKEN                                                                                  \
	"base = 1ms\nfactor = 1\ncap = 1ms\njitter = none\nmin = 1ms\ncapacity = 1\n"              \
	"floor = 0/s\nearn = 0\nprobe = 1h\nnonblocking = park\n"

Test(nonblocking, the_first_retry_goes_if_it_can_pay)
{
	loop(ONE_TOKEN, 1);
}

Test(nonblocking, the_first_retry_is_throttled_if_it_cannot_pay)
{
	loop(ONE_TOKEN "start = 0%\n", 0);
}

/* The first one goes at once; the gate is drawn by its failure. */
Test(nonblocking, later_retries_are_throttled_within_the_backoff)
{
	loop("base = 1h\ncap = 1h\njitter = none\nprobe = 1h\nnonblocking = park\n", 1);
}

/* With pass nothing is throttled, and it is said what would have been. */
Test(nonblocking, passed)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "nonblock", .policy = POLICY "pass\n" },
	           TEXT(PLAIN, "0"), NULL);

	cr_expect_eq(records_with(result, "event=would-throttle"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "event=throttled"), 0, "%s", result->records);
}

/* The second and the third connect are parked. */
static void told_by(const char *how)
{
	static const char nothing[] = "user timeout: 0, least TTL: 0\n"
				      "user timeout: 0, least TTL: 0\n";

	expect(
	    &(struct probe) { .program = "told", .arguments = { how }, .policy = POLICY "park\n" },
	    nothing, NULL);
}

#define TOLD_BY(how)                                                                               \
	Test(nonblocking, parked_leaves_nothing_once_told_by_##how)                                \
	{                                                                                          \
		told_by(#how);                                                                     \
	}
TOLD_BY(so_error)
TOLD_BY(connect)
TOLD_BY(read)
TOLD_BY(recv)
TOLD_BY(write)
TOLD_BY(send)
TOLD_BY(getpeername)
