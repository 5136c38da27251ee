/* SPDX-License-Identifier: MIT */
/* Requests by UDP, with and without udp = on. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* One token, no wait worth mentioning, and a probe after three seconds. */
#define POLICY                                                                                     \
	"base = 1ms\ncap = 1ms\nmin = 1ms\nfactor = 1\njitter = none\ncapacity = 1\n"              \
	"floor = 0/s\nearn = 0\nprobe = 3s\nhold = 50ms\n"
#define ON   "udp = on\n"
#define DROP "udp = on\nudp_deny = drop\n"

TestSuite(datagram, .fini = discard_scratch, .timeout = 120);

/* The same bytes six times: with drop, the first and the one that the token pays for arrive. */
#define REPEAT(arrived) "healthy: 20\nsilent: sent 6, arrived " arrived "\nback: 1\nhealthy: 20\n"

static void repeat(struct probe probe)
{
	const struct result *result;

	probe.program = "datagram";
	probe.policy = POLICY DROP;
	result = expect(&probe, REPEAT("6"), REPEAT("2"));
	cr_expect_eq(records_with(result, "event=throttled"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "event=recovered"), 1, "%s", result->records);
	/* 2 × 20 answered, the first unanswered one; six answer a failure, the last of them well.
	 */
	cr_expect_eq(records_with(result, "kind=first"), 41, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 6, "%s", result->records);
	cr_expect_geq(records_with(result, "dest=udp:"), 47, "%s", result->records);
}

Test(datagram, repeated)
{
	repeat((struct probe) { .arguments = { "repeat" } });
}

Test(datagram, repeated_on_a_connected_socket)
{
	repeat((struct probe) { .arguments = { "repeat", "connected" } });
}

Test(datagram, repeated_without_blocking)
{
	repeat((struct probe) { .arguments = { "repeat", "nonblocking" } });
}

Test(datagram, repeated_with_dontwait)
{
	repeat((struct probe) { .arguments = { "repeat", "connected", "dontwait" } });
}

Test(datagram, repeated_by_sendmsg_v6)
{
	repeat((struct probe) { .arguments = { "repeat", "message", "v6" } });
}

Test(datagram, repeated_by_write)
{
	repeat((struct probe) { .arguments = { "repeat", "connected", "write" } });
}

Test(datagram, repeated_by_writev)
{
	repeat((struct probe) { .arguments = { "repeat", "connected", "writev" } });
}

Test(datagram, repeated_by_sendmmsg)
{
	repeat((struct probe) { .arguments = { "repeat", "batch" } });
}

Test(datagram, repeated_by_sendmmsg_with_dontwait)
{
	repeat((struct probe) { .arguments = { "repeat", "batch", "connected", "dontwait" } });
}

Test(datagram, repeated_by_other_names)
{
#ifdef __GLIBC__
	repeat((struct probe) { .arguments = { "repeat", "connected", "alias" } });
	repeat((struct probe) { .arguments = { "repeat", "connected", "alias", "write" } });
#else
	cr_skip_test("datagram: this libc has no other names");
#endif
}

/* Each of two in one call is a request of its own: one of the silent ones has a token. */
static void together(struct probe probe)
{
	const struct result *result;

	probe.program = "datagram";
	probe.policy = POLICY DROP;
	result = expect(&probe,
	                "together: sent 20, arrived 20, answered 20\nsilent: sent 12, arrived 12\n",
	                "together: sent 20, arrived 20, answered 20\nsilent: sent 12, arrived 3\n");
	cr_expect_eq(records_with(result, "kind=first"), 22, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 10, "%s", result->records);
}

Test(datagram, two_in_one_call)
{
	together((struct probe) { .arguments = { "together" } });
	together((struct probe) { .arguments = { "together", "connected", "v6" } });
}

/* Counted, said, and let go. */
Test(datagram, passes_by_default)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "datagram",
	                             .arguments = { "repeat", "nonblocking" },
	                             .policy = POLICY ON },
	           REPEAT("6"), NULL);

	cr_expect_eq(records_with(result, "event=throttled"), 0, "%s", result->records);
	cr_expect_eq(records_with(result, "event=would-throttle"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 6, "%s", result->records);
}

/* Not asked for: not a word about it. */
Test(datagram, is_not_judged_unless_asked)
{
	const struct result *result = expect(
	    &(struct probe) { .program = "datagram", .arguments = { "repeat" }, .policy = POLICY },
	    REPEAT("6"), NULL);

	cr_expect_eq(result->record_count, 0, "%s", result->records);
}

Test(datagram, is_not_judged_unless_asked_for_its_destination)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "datagram",
	                             .arguments = { "repeat" },
	                             .policy = POLICY "[destination other]\n"
	                                              "match = 192.0.2.1:53\n" DROP },
	           REPEAT("6"), NULL);
	cr_expect_eq(result->record_count, 0, "%s", result->records);
}

/* The pattern is the one that TCP has. */
Test(datagram, is_matched_by_its_address)
{
	expect(&(struct probe) { .program = "datagram",
	                         .arguments = { "repeat" },
	                         .policy = POLICY "[destination other]\nmatch = 127.0.0.1\n" DROP },
	       REPEAT("6"), REPEAT("2"));
}

/* That the first was lost shows when it is sent again: the backoff counts from the first. */
Test(datagram, goes_again_once_the_backoff_is_over)
{
	const struct result *result =
	    expect(&(struct probe) { .program = "datagram",
	                             .arguments = { "lost", "nonblocking" },
	                             .policy = "base = 1s\njitter = none\n" DROP },
	           "healthy: 20\nlost: 1\nagain: 1\n", NULL);

	cr_expect_eq(records_with(result, "kind=retry"), 1, "%s", result->records);
}

/* The first and its first repeat go. A send that may block is held where its thread spins, before
 * it is dropped. */
Test(datagram, is_held_where_it_may_block)
{
	expect(&(struct probe) { .program = "datagram",
	                         .arguments = { "spin" },
	                         .policy = GATE_SHUT("1s") DROP },
	       "spin: failed 0, arrived many, longest at once\n",
	       "spin: failed 0, arrived two, longest whole\n");
}

Test(datagram, is_never_held_where_it_may_not_block)
{
	expect(&(struct probe) { .program = "datagram",
	                         .arguments = { "spin", "nonblocking" },
	                         .policy = GATE_SHUT("1s") DROP },
	       "spin: failed 0, arrived many, longest at once\n",
	       "spin: failed 0, arrived two, longest at once\n");
}

/* New bytes for each try: the earlier one must have waited for its second. */
static void slow(const char *scenario, int first, int retries, const char *plain, const char *least,
                 const char *most)
{
	static struct result result;
	struct probe probe = { .program = "datagram",
		               .arguments = { scenario, "nonblocking" },
		               .policy = POLICY DROP };

	run_probe(&probe, BARE, &result);
	cr_expect_str_eq(result.out, plain);
	run_probe(&probe, ENFORCE, &result);
	/* One or two probes fall due in six seconds, whatever the machine does. */
	cr_expect(strcmp(result.out, least) == 0 || strcmp(result.out, most) == 0, "%s",
	          result.out);
	cr_expect_eq(records_with(&result, "kind=first"), first, "%s", result.records);
	cr_expect_eq(records_with(&result, "kind=retry"), retries, "%s", result.records);
}

Test(datagram, with_other_bytes_after_a_second)
{
	slow("silent", 1, 5, "silent: sent 6, arrived 6\n", "silent: sent 6, arrived 3\n",
	     "silent: sent 6, arrived 4\n");
}

Test(datagram, on_a_new_socket_each_time)
{
	slow("fresh", 1, 5, "fresh: sent 6, arrived 6\n", "fresh: sent 6, arrived 3\n",
	     "fresh: sent 6, arrived 4\n");
}

Test(datagram, on_a_new_socket_each_time_closed_unseen)
{
	slow("unseen", 1, 5, "fresh: sent 6, arrived 6\n", "fresh: sent 6, arrived 3\n",
	     "fresh: sent 6, arrived 4\n");
}

/* Of each it is not clear what it is: five go for nothing, and then they pay. */
Test(datagram, on_a_new_thread_each_time)
{
	slow("threads", 1, 9, "threads: arrived 10\n", "threads: arrived 7\n",
	     "threads: arrived 8\n");
}

Test(datagram, in_pieces)
{
	expect_same(&(struct probe) { .program = "datagram_same",
	                              .arguments = { "pieces", "connected" },
	                              .policy = POLICY DROP });
}

Test(datagram, after_a_receive_timeout)
{
	static struct result result;
	struct probe probe = { .program = "datagram",
		               .arguments = { "timeout", "connected" },
		               .policy = POLICY DROP };

	expect(&probe, "time limit: sent 6, ran out 6, arrived 6\n",
	       "time limit: sent 6, ran out 6, arrived 3\n");
	run_probe(&probe, ENFORCE, &result);
	cr_expect_eq(records_with(&result, "kind=retry"), 5, "%s", result.records);
}

/* None of these is a retry. */
static void first_tries(const char *scenario, int count)
{
	const struct result *result = expect_same(&(struct probe) {
	    .program = "datagram_same", .arguments = { scenario }, .policy = POLICY DROP });

	cr_expect_eq(records_with(result, "kind=first"), count, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 0, "%s", result->records);
}

Test(datagram, questions_in_pairs)
{
	first_tries("pairs", 20);
}

Test(datagram, given_up_at_once)
{
	first_tries("short", 6);
}

Test(datagram, closed_by_a_child)
{
	first_tries("fork", 2);
}

Test(datagram, answers_of_another_peer)
{
	expect(&(struct probe) { .program = "datagram",
	                         .arguments = { "peers" },
	                         .policy = POLICY DROP },
	       "sent 6, answered 6, arrived at the mute one 6\n",
	       "sent 6, answered 6, arrived at the mute one 2\n");
}

/* Errors are the kernel's own, each counted once, and never of the datagram that was not sent. */
Test(datagram, refused)
{
	const struct result *result =
	    expect_same(&(struct probe) { .program = "datagram_same",
	                                  .arguments = { "refused", "connected" },
	                                  .policy = POLICY ON });

	cr_expect_eq(records_with(result, "kind=first"), 1, "%s", result->records);
	cr_expect_eq(records_with(result, "kind=retry"), 2, "%s", result->records);
	cr_expect_eq(records_with(result, "class=refused"), records_with(result, "class="));
}

Test(datagram, odd_calls)
{
	expect_same(&(struct probe) {
	    .program = "datagram_same", .arguments = { "odd", "connected" }, .policy = POLICY ON });
	expect_same(&(struct probe) { .program = "datagram_same",
	                              .arguments = { "odd", "connected", "v6" },
	                              .policy = POLICY ON });
}
