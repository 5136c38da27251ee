/* SPDX-License-Identifier: MIT */
/* What is learned from tries that we refused, and whom a refusal excuses. */
#include "feedback_fixture.h"

#include "dest/profile.h"

static void is_refused(const struct server *server)
{
	struct attempt try;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server->address,
	                                sizeof(server->address)));
	attempt_start(&try);
	errno = ECONNREFUSED;
	attempt_settle(&try, -1);
	host_close(fd);
}

/* As one that was parked, and came back so much later. */
static void is_told(const struct server *server, bool held, int64_t ms)
{
	const struct timespec while_parked = { .tv_nsec = ms * NS_PER_MS };
	struct attempt try;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server->address,
	                                sizeof(server->address)));
	attempt_unanswered(&try, held, monotonic());
	host_close(fd);
	nanosleep(&while_parked, NULL);
}

static void is_throttled(const struct server *server, int64_t ms)
{
	is_told(server, true, ms);
}

/* It is no pause of the program's. */
Test(feedback, no_pause_is_learned_from_what_we_throttled)
{
	struct server server = serve(8);

	fails(&server, "get one\r\n");
	for (int i = 0; i < 3; i++) {
		is_throttled(&server, 20);
		fails(&server, "get one\r\n");
	}
	cr_expect_eq(destination_at_port(&server)->pause, 0);
	cr_expect_eq(retries(), 6);
	cr_expect_eq(destination_at_port(&server)->profile, 0);
	cr_expect_gt(destination_at_port(&server)->answerers >> 16, 0,
	             "that it tried again after a refusal is known");
}

/* The time of the last failure stands in a region that anybody may write to. */
Test(feedback, one_that_was_refused_mends_a_corrupted_time_of_the_last_failure)
{
	const int64_t corrupted[] = { INT64_MIN, INT64_MIN + NS_PER_S, INT64_MAX };
	struct server server = serve(8);
	int64_t now = monotonic();

	fails(&server, "get one\r\n");
	for (size_t i = 0; i < sizeof(corrupted) / sizeof(*corrupted); i++) {
		cell64 *failed_at = &destination_at_port(&server)->budget.failed_at;

		STORE(*failed_at, corrupted[i]);
		is_told(&server, false, 1);
		cr_expect(LOAD(*failed_at) >= now && LOAD(*failed_at) <= monotonic(), "of %ld",
		          (long)corrupted[i]);
	}
}

/* Where many are refused side by side each has its place, or all would look for another. */
Test(feedback, one_that_was_refused_stands_where_it_stood)
{
	struct server server = serve(8);
	const struct unanswered failure = {
		.owner = thread_id(), .at = monotonic(), .number = 1, .seat = 6
	};
	struct destination *destination;

	fails(&server, "get one\r\n");
	destination = destination_at_port(&server);
	memset((void *)destination->failures, 0, sizeof(destination->failures));
	failures_add(destination, &failure);
	cr_assert_neq(LOAD(destination->failures[5]), 0);
	for (int i = 0; i < 3; i++) {
		is_told(&server, false, 1);
		cr_expect_neq(LOAD(destination->failures[5]), 0, "time %d", i);
		cr_expect_eq(LOAD(destination->failures[0]), 0, "time %d", i);
	}
}

/* One that was refused at once goes on when it would have: a pause of the program's, and a known
 * one tells other work, which comes sooner. */
Test(feedback, a_pause_is_learned_from_what_was_refused_at_once)
{
	struct server server = serve(8);
	int64_t before;

	fails(&server, "get one\r\n");
	for (int i = 0; i < 3; i++) {
		is_told(&server, false, 250);
		fails(&server, "get one\r\n");
	}
	cr_expect_geq(destination_at_port(&server)->pause, 200 * NS_PER_MS);
	before = retries();
	is_told(&server, false, 0);
	cr_expect_eq(retries(), before, "so soon it is something else");
}

/* A program with three tries for each request, of which we throttle two: what comes then is the
 * next one, and would be throttled too, and the one after that, if it were taken for a retry. */
Test(feedback, who_gives_up_what_was_throttled_is_left_alone_afterwards)
{
	struct server server = serve_after_failure();
	char request[32];

	for (int i = 0; i < 20; i++) {
		int64_t before = retries();

		snprintf(request, sizeof(request), "get job_%d\r\n", i);
		fails(&server, request);
		is_throttled(&server, 0);
		is_throttled(&server, 0);
		works(&server, "get ready\r\n");
		cr_expect_eq(retries() - before, i < 2 ? 3 : 2, "%d", i);
	}
	cr_expect_eq(mistaken(), 2, "%d", (int)mistaken());
}

/* Tries that reach nobody send nothing, and are still tries of the same request. */
Test(feedback, refused_tries_count)
{
	struct server server = serve_after_failure();
	int64_t before;

	work_through(&server, 0, 6, 3);
	works(&server, "get ready\r\n");
	for (int i = 6; i < 10; i++) {
		before = retries();
		work_through(&server, i, i + 1, 1);
		cr_expect_eq(retries(), before, "a new request");
		is_refused(&server);
		is_refused(&server);
		cr_expect_eq(retries(), before + 2);
	}
}

/* Where nothing tells which request a try is of, it teaches nothing. */
Test(feedback, nothing_is_learned_from_refusals_alone)
{
	struct server server = serve_after_failure();

	for (int i = 0; i < 20; i++)
		is_refused(&server);
	cr_expect_eq(destination_at_port(&server)->profile, 0);
	cr_expect_eq(retries(), 19, "%d", (int)retries());
}

/* Told no for ever, a thread that tries one thing until it works serves less than without any
 * retry. */
Test(feedback, who_was_refused_twice_is_unclear_where_it_answers)
{
	struct server server = serve_after_failure();

	for (int round = 0; round < 3; round++) {
		work_through(&server, round, round + 1, 3);
		cr_expect_eq(denied(&server), KIND_REPEAT);
		cr_expect_eq(denied(&server), KIND_REPEAT);
		cr_expect_eq(denied(&server), KIND_UNCLEAR);
		cr_expect_eq(denied(&server), KIND_UNCLEAR);
		fails(&server, "get more\r\n");
		cr_expect_eq(denied(&server), KIND_REPEAT, "it went, and failed");
		works(&server, "get ready\r\n");
	}
	work_through(&server, 4, 5, 7);
	for (int i = 0; i < 5; i++)
		cr_expect_eq(denied(&server), KIND_REPEAT, "it does not answer");
}

/* What a thread's try is that was refused in an outage, once a failure has begun a streak anew: on
 * the way back from the outage, or without one. */
static enum kind refused_before(bool way_back)
{
	struct server server = serve_after_failure();
	struct budget *budget = &destination_at_port(&server)->budget;

	fails(&server, "get ready\r\n");
	denied(&server);
	STORE(budget->began_at, monotonic() + NS_PER_S);
	failures_forgive(destination_at_port(&server));
	if (way_back) {
		ramp_throttled(&budget->ramp, monotonic());
		ramp_begin(&budget->ramp, true, monotonic());
	}
	return denied(&server);
}

/* A backlog that meets its server would be new work altogether at the first failure. */
Test(feedback, who_was_refused_in_an_outage_waits_until_the_way_back_has_ended)
{
	cr_expect_eq(refused_before(false), KIND_UNCLEAR);
	cr_expect_eq(refused_before(true), KIND_REPEAT);
}

/* One URL that always fails, where others are answered: its tries must not go on for ever. */
Test(feedback, who_has_failed_fifteen_times_in_a_row_is_excused_no_more)
{
	struct server server = serve_after_failure();
	struct allowance *allowance = &destination_at_port(&server)->budget.allowance;

	work_through(&server, 0, 1, 3);
	for (int tries = 0; tries < 10; tries++) {
		allowance_answered(allowance, monotonic());
		fails(&server, "get more\r\n");
	}
	allowance_answered(allowance, monotonic());
	cr_expect_eq(denied(&server), KIND_REPEAT);
	cr_expect_eq(denied(&server), KIND_UNCLEAR);
	for (int tries = 0; tries < 10; tries++) {
		allowance_answered(allowance, monotonic());
		fails(&server, "get more\r\n");
	}
	allowance_answered(allowance, monotonic());
	for (int i = 0; i < 5; i++)
		cr_expect_eq(denied(&server), KIND_REPEAT, "its request fails by itself");
}

/* A herd of which each has been refused would come at the first success. */
Test(feedback, who_was_refused_twice_does_not_go_past_the_ramp)
{
	struct server server = serve_after_failure();
	struct ramp *ramp = &destination_at_port(&server)->budget.ramp;

	work_through(&server, 0, 1, 3);
	for (int i = 0; i < 2; i++)
		cr_expect_eq(denied(&server), KIND_REPEAT);
	cr_expect_eq(denied(&server), KIND_UNCLEAR);
	destination_at_port(&server)->budget.barred = 1;
	cr_expect_eq(denied(&server), KIND_REPEAT, "no failure is to be retried");
	destination_at_port(&server)->budget.barred = 0;
	ramp_throttled(ramp, monotonic());
	ramp_begin(ramp, true, monotonic());
	cr_assert(ramp_is_on(ramp, monotonic()));
	cr_expect_eq(denied(&server), KIND_REPEAT);
	ramp_stop(ramp, monotonic());
	cr_expect_eq(denied(&server), KIND_UNCLEAR);
}

/* Nothing but a reply is worth another try to it: an error of its connect ends the piece of work.
 * What it does after failures tells nothing of what it does when we refuse it. */
Test(feedback, who_gives_up_when_refused_is_known_to)
{
	struct server server = serve_after_failure();
	struct destination *destination = destination_at_port(&server);

	for (int i = 0; i < 20; i += 2) { /* it tries again after its first failure */
		work_through(&server, i, i + 1, 2);
		works(&server, "get ready\r\n");
	}
	cr_assert(profile_tries_again(destination, 1, false));
	for (int i = 20; i < 24; i++) {
		work_through(&server, i, i + 1, 1);
		denied(&server);
		works(&server, "get ready\r\n");
	}
	cr_expect(profile_goes_on(destination, 2, true));
	cr_expect_not(profile_tries_again(destination, 2, true));
	cr_expect(profile_tries_again(destination, 1, false), "as before");
	work_through(&server, 24, 25, 1);
	cr_expect_eq(denied(&server), KIND_REPEAT, "its next try");
	cr_expect_neq(denied(&server), KIND_REPEAT, "its next piece of work");
}

/* Nor of one that tries on whoever refused it. */
Test(feedback, who_tries_on_when_refused_is_known_to)
{
	struct server server = serve_after_failure();
	struct destination *destination = destination_at_port(&server);

	for (int i = 0; i < 4; i++) {
		work_through(&server, i, i + 1, 1);
		denied(&server);
		work_through(&server, i, i + 1, 1);
		works(&server, "get ready\r\n");
	}
	cr_expect(profile_tries_again(destination, 2, true));
	cr_expect_not(profile_goes_on(destination, 2, true));
}
