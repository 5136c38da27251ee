/* SPDX-License-Identifier: MIT */
/* After a server has dropped everybody at once. */
#include "run.h"

#include <criterion/criterion.h>

#define SPREAD     "reconnect_spread = 5s\n"
#define ALL        "back: 200\nin one second: nearly all\n"
#define IN_TURNS   "back: 200\nin one second: a part\n"
#define ONE_AS_YET "back: 1\nin one second: nearly all\n"

TestSuite(reconnect, .fini = discard_scratch);

static void reconnect(const char *what, const char *policy, const char *plain, const char *held)
{
	expect(
	    &(struct probe) {
		.program = "reconnect", .arguments = { what }, .policy = policy, .seconds = 60 },
	    plain, held);
}

static const struct result *run_threads(const char *policy, enum how how, const char *wanted)
{
	static struct result result;

	/* Of a record for each attempt some would be lost. */
	run_to_say(&(struct probe) { .program = "reconnect",
	                             .arguments = { "threads" },
	                             .policy = policy,
	                             .log = "target = syslog\n",
	                             .seconds = 60 },
	           how, &result, wanted);
	return &result;
}

Test(reconnect, of_two_hundred_threads_is_spread)
{
	reconnect("threads", SPREAD, ALL, IN_TURNS);
}

Test(reconnect, of_an_event_loop_is_spread)
{
	reconnect("events", SPREAD, ALL, IN_TURNS);
}

/* The program closes without having read the end. */
Test(reconnect, after_an_unread_end_is_spread)
{
	reconnect("unread", SPREAD, ALL, IN_TURNS);
}

Test(reconnect, of_one_goes_at_once)
{
	reconnect("one", SPREAD, ONE_AS_YET, NULL);
}

Test(reconnect, is_not_spread_unless_asked_for)
{
	reconnect("threads", NULL, ALL, NULL);
}

Test(reconnect, of_connections_that_were_young_is_not_spread)
{
	reconnect("threads", SPREAD "min_life = 1h\n", ALL, NULL);
}

Test(reconnect, is_ended_by_a_handler)
{
	reconnect("signal", SPREAD, "connect: ok\n", "connect: ECONNREFUSED\n");
}

/* One herd would only give way to another, when the wait ends that a call may take. */
Test(reconnect, is_spread_over_the_longest_wait)
{
	const struct result *result = run_threads("reconnect_spread = 1h\n", ENFORCE, IN_TURNS);

	cr_expect_str_eq(result->out, IN_TURNS);
}

/* Once per time of spreading. */
Test(reconnect, is_told)
{
	const struct result *result = run_threads("reconnect_spread = 1500ms\n", ENFORCE, NULL);

	cr_expect_eq(records_with(result, "event=spread "), 1, "%s", result->records);
	cr_expect_eq(records_with(result, " policy=default wait_ms=1500"), 1);
	cr_expect_eq(records_with(result, "event=loaded"), 1);
}

Test(reconnect, is_told_where_nothing_is_throttled)
{
	const struct result *result = run_threads(SPREAD, OBSERVE, NULL);

	cr_expect_eq(records_with(result, "event=would-spread "), 1);
	cr_expect_eq(records_with(result, "event=spread "), 0);
}

/* Of what is drawn from ten seconds, one wait in twenty is over before the probe leaves it. */
#define MINUTES "reconnect_spread = 1h\nmin_life = 100ms\n"

static void leave(const char *how, const char *plain, const char *held)
{
	expect(
	    &(struct probe) {
		.program = "spread_wait", .arguments = { how }, .policy = MINUTES, .chance = true },
	    plain, held);
}

Test(reconnect, waits_are_cancellation_points)
{
	leave("cancel",
	      "connect: returned\ncancelled soon, clean-up handlers run: 1\ndescriptors left: 0\n",
	      "connect: waits\ncancelled soon, clean-up handlers run: 1\ndescriptors left: 0\n");
}

Test(reconnect, waits_leave_nothing_behind_after_a_jump)
{
#define CLEAN                                                                                      \
	"descriptors left: 0\nmappings left: 0\nsignal mask: same\ncancel state: enabled\n"        \
	"socket: works\n"
	leave("jump", "in the end: ok, after no jumps\n" CLEAN,
	      "in the end: ok, after jumps\n" CLEAN);
}

Test(reconnect, goes_after_a_handler_with_restart)
{
	leave("restart", "connect: ok, at once\nsignals handled: both\n",
	      "connect: ok, by the first\nsignals handled: both\n");
}

Test(reconnect, waits_go_on_while_another_thread_forks)
{
	leave("fork",
	      "child: exit 0, signal 0, works, descriptors too many: none, its own: ok\n"
	      "parent: returned\ncancelled soon, clean-up handlers run: 1\n",
	      "child: exit 0, signal 0, works, descriptors too many: none, its own: ECONNREFUSED\n"
	      "parent: waits\ncancelled soon, clean-up handlers run: 1\n");
}
