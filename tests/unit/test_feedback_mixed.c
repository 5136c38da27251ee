/* SPDX-License-Identifier: MIT */
/* Several pieces of work at a time: none is refused for what another one does. */
#include "feedback_fixture.h"

#include "dest/profile.h"
#include "dest/tries.h"
#include "pace/verdict.h"

/* An event loop: one URL that always fails is tried again beside others that are answered. */
static void mix(const struct server *server, int rounds)
{
	char request[32];

	for (int i = 0; i < rounds; i++) {
		work_through(server, 0, 1, 3);
		snprintf(request, sizeof(request), "get other_%d\r\n", i);
		works(server, request);
	}
}

Test(feedback, of_several_pieces_of_work_at_a_time_none_is_refused_for_another)
{
	struct server server = serve_after_failure();
	struct destination *destination = destination_at_port(&server);
	int64_t long_ago;

	mix(&server, 20);
	work_through(&server, 0, 1, 9);
	cr_expect_eq(denied(&server), KIND_UNCLEAR);
	long_ago = monotonic() - ALLOWANCE_WINDOW - NS_PER_S;
	if (long_ago > 0)
		profile_mixed(destination, thread_id(), long_ago);
	else /* this machine has just booted */
		memset(destination->mixed, 0, sizeof(destination->mixed));
	cr_expect_eq(denied(&server), KIND_REPEAT, "a thread that has nothing else there now");
	mix(&server, 1);
	work_through(&server, 0, 1, 1);
	cr_expect_eq(denied(&server), KIND_UNCLEAR);
	works(&server, "get more\r\n");
	work_through(&server, 0, 1, 1);
	STORE(destination->news, 0);
	cr_expect_eq(denied(&server), KIND_REPEAT, "what is new there fails as well");
}

/* What the ramp would let go one by one fails by itself for the most part, and would never end it.
 * But what was mixed before an outage says nothing of the way back from it. */
Test(feedback, of_several_pieces_of_work_none_waits_for_another_on_the_way_back)
{
	struct server server = serve_after_failure();
	struct destination *destination = destination_at_port(&server);
	int64_t before_outage;

	mix(&server, 20);
	work_through(&server, 0, 1, 9);
	ramp_throttled(&destination->budget.ramp, monotonic());
	ramp_begin(&destination->budget.ramp, true, monotonic());
	cr_expect_eq(denied(&server), KIND_UNCLEAR);
	before_outage = monotonic() - 2 * NS_PER_S;
	if (before_outage > 0)
		profile_mixed(destination, thread_id(), before_outage);
	else
		memset(destination->mixed, 0, sizeof(destination->mixed));
	cr_expect_eq(denied(&server), KIND_REPEAT);
}

/* An event loop whose pause is known: what comes sooner is not what it tries again. */
Test(feedback, what_comes_sooner_than_a_program_tries_again_is_other_work)
{
	struct server server = serve_after_failure();
	struct destination *destination = destination_at_port(&server);
	int64_t pause = 300 * NS_PER_MS;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct attempt try;

	work_through(&server, 0, 1, 24);
	STORE(destination->pause, pause);
	STORE(destination->budget.allowance.started, ALLOWANCE_START);
	cr_assert_not(profile_answers_new(destination));
	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
	cr_expect_eq(verdict_take(&try, MT_PER_TOKEN, try.began), ADMITTED_FREE);
	host_close(fd);
	works(&server, "get other\r\n");
	cr_expect(profile_is_mixed(destination, thread_id(), monotonic() - NS_PER_S));
	cr_expect(profile_answers_new(destination), "and that it is answered is known");
}

/* What was refused may have been for something else, in the very moment before. */
Test(feedback, what_comes_too_soon_after_a_refusal_says_nothing_of_the_pause)
{
	struct server server = serve_after_failure();
	struct destination *destination = destination_at_port(&server);
	int64_t pause = 300 * NS_PER_MS;

	work_through(&server, 0, 1, 3);
	STORE(destination->pause, 0);
	denied(&server); /* as what is tried again */
	STORE(destination->pause, pause);
	fails(&server, "get job_0\r\n");
	cr_expect_eq(destination->pause, pause, "%d", (int)destination->pause);
}

Test(feedback, each_thread_is_mixed_for_itself)
{
	struct server server = serve_after_failure();
	struct destination *destination = destination_at_port(&server);
	int64_t now = monotonic();

	cr_expect_not(profile_is_mixed(destination, 77, now - NS_PER_S));
	profile_mixed(destination, 77, now);
	cr_expect(profile_is_mixed(destination, 77, now - NS_PER_S));
	cr_expect_not(profile_is_mixed(destination, 77, now + NS_PER_S), "long ago");
	cr_expect_not(profile_is_mixed(destination, 78, now - NS_PER_S), "of another");
	cr_expect_not(profile_is_mixed(destination, 77 + REGION_MIXED, now - NS_PER_S),
	              "at its place");
}

/* Some of what is new fails: who fails there does so because of its destination. */
Test(feedback, where_new_requests_fail_none_is_said_to_fail_by_itself)
{
	struct server server = serve_after_failure();
	struct destination *destination = destination_at_port(&server);

	mix(&server, 20);
	cr_expect(profile_answers_new(destination));
	work_through(&server, 1, 2, 1);
	cr_expect(profile_answers_new(destination));
	work_through(&server, 2, 5, 1);
	cr_expect_not(profile_answers_new(destination));
	mix(&server, 40);
	cr_expect(profile_answers_new(destination), "it is well again");
}

/* Refusals prove nothing of a request, nor of what the thread does after it. */
Test(feedback, who_was_refused_often_is_excused_all_the_same)
{
	struct server server = serve_after_failure();
	struct allowance *allowance = &destination_at_port(&server)->budget.allowance;
	char request[32];

	work_through(&server, 0, 1, 3);
	for (int i = 0; i < 40; i++) {
		allowance_answered(allowance, monotonic());
		cr_assert(denied(&server) == KIND_UNCLEAR || i < 2, "%d", i);
	}
	/* Nor do failures, of who is answered now and then. */
	for (int job = 1; job < 10; job++) {
		snprintf(request, sizeof(request), "get other_%d\r\n", job);
		works(&server, request);
		work_through(&server, 0, 1, 3);
	}
	cr_expect_not(tries_are_vain(destination_slot(destination_at_port(&server))));
}

/* A long poll that its client gives up after a second, beside others that are answered. */
Test(feedback, what_takes_a_second_to_fail_is_unclear_where_others_are_answered)
{
	struct server server = serve_after_failure();
	struct destination *destination;
	struct allowance *allowance;

	work_through(&server, 0, 1, 6);
	destination = destination_at_port(&server);
	allowance = &destination->budget.allowance;
	STORE(destination->last_failure, FAILURE_TIMEOUT);
	for (int answered = 0; answered < 2; answered++) {
		STORE(allowance->answered_at, answered ? monotonic() : 1);
		STORE(allowance->failed, 3);
		STORE(destination->failing_time, NS_PER_S / 2);
		cr_expect_eq(denied(&server), KIND_REPEAT, "it asks more often");
		STORE(destination->failing_time, NS_PER_S);
		cr_expect_eq(denied(&server), answered ? KIND_UNCLEAR : KIND_REPEAT);
		fails(&server, "get job_0\r\n");
		STORE(destination->last_failure, FAILURE_TIMEOUT);
	}
}
