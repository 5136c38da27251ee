/* SPDX-License-Identifier: MIT */
/* What the requests teach: whether an attempt that follows a failure is the same work again. */
#include "track_fixture.h"

#include "pace/pace.h"
#include "dest/demand.h"
#include "dest/profile.h"
#include "dest/tries.h"
#include "conn/settle.h"

TestSuite(feedback, .init = start_shim);

static int64_t retries(void)
{
	return shim_region->tally.retries;
}

static int64_t mistaken(void)
{
	return shim_region->tally.mistaken;
}

/* One connection on which a request goes out; the peer takes it and hangs up. */
static void fails(const struct server *server, const char *request)
{
	struct talk talk = talk_to(server);

	cr_assert_eq(host_send(talk.host, request), (ssize_t)strlen(request));
	peer_hears(&talk);
	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	host_close(talk.host);
}

static void works(const struct server *server, const char *request)
{
	struct talk talk = talk_to(server);

	cr_assert_eq(host_send(talk.host, request), (ssize_t)strlen(request));
	peer_hears(&talk);
	peer_says(&talk, "done");
	cr_assert_eq(host_recv(talk.host, 8, 0), 4);
	host_close(talk.host);
}

/* A server whose destination has failed before: while all is well no request is looked at. */
static struct server serve_troubled(void)
{
	struct server server = serve(8);

	fails(&server, "get ready\r\n");
	works(&server, "get ready\r\n");
	shim_region->tally.retries = 0;
	return server;
}

/* Works through a list: `each` tries for every entry, all in vain. */
static void work_through(const struct server *server, int from, int to, int each)
{
	char request[32];

	for (int i = from; i < to; i++) {
		snprintf(request, sizeof(request), "get job_%d\r\n", i);
		for (int n = 0; n < each; n++)
			fails(server, request);
	}
}

Test(feedback, the_same_request_again_is_a_retry)
{
	struct server server = serve_troubled();

	work_through(&server, 0, 1, 30);
	cr_expect_eq(retries(), 29, "%d", (int)retries());
	cr_expect_eq(mistaken(), 0);
}

/* A request whose body is written apart from its head. */
static void fails_in_pieces(const struct server *server, const char *body)
{
	static const char head[] = "POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";
	struct talk talk = talk_to(server);

	cr_assert_eq(host_send(talk.host, head), (ssize_t)strlen(head));
	cr_assert_eq(host_send(talk.host, body), 9);
	peer_hears(&talk);
	peer_closes(&talk);
	host_recv(talk.host, 8, 0); /* the end, or a reset where some of it was not read */
	host_close(talk.host);
}

/* All of them go to one URL. */
Test(feedback, requests_that_differ_in_their_bodies_are_others)
{
	struct server server = serve_troubled();
	char body[16];

	for (int i = 0; i < 50; i++) {
		snprintf(body, sizeof(body), "{\"a\": %02d}", i);
		fails_in_pieces(&server, body);
		if (i % 5 == 4)
			works(&server, "get ready\r\n");
	}
	cr_expect(retries() <= 3, "%d", (int)retries());
	cr_expect_eq(mistaken(), retries());
}

Test(feedback, a_request_in_pieces_is_known_again)
{
	struct server server = serve_troubled();

	for (int i = 0; i < 30; i++)
		fails_in_pieces(&server, "{\"a\": 17}");
	cr_expect_eq(retries(), 29, "%d", (int)retries());
	cr_expect_eq(mistaken(), 0);
}

/* A success now and then. */
Test(feedback, who_works_through_a_list_is_soon_left_alone)
{
	struct server server = serve_troubled();
	int64_t learned;

	work_through(&server, 0, 5, 1);
	works(&server, "get ready\r\n");
	learned = retries();
	cr_expect(learned >= 1 && learned <= 3, "%d", (int)learned);
	cr_expect_eq(mistaken(), learned);
	for (int i = 5; i < 60; i += 5) {
		work_through(&server, i, i + 5, 1);
		works(&server, "get ready\r\n");
	}
	cr_expect_eq(retries(), learned, "%d", (int)retries());
	cr_expect(destination_at_port(&server)->budget.streak <= 3);
}

Test(feedback, after_the_last_try_comes_new_work)
{
	struct server server = serve_troubled();

	work_through(&server, 0, 4, 3);
	cr_expect_eq(retries() - mistaken(), 4 * 2);
	for (int i = 4; i < 24; i += 4) {
		works(&server, "get ready\r\n");
		work_through(&server, i, i + 4, 3);
	}
	cr_expect(mistaken() <= 3, "%d", (int)mistaken());
	cr_expect_eq(retries() - mistaken(), 24 * 2, "%d", (int)(retries() - mistaken()));
}

/* A program that is known to go on, and then does not. */
Test(feedback, a_profile_can_be_unlearned)
{
	struct server server = serve_troubled();
	int64_t before;

	work_through(&server, 0, 6, 1);
	before = retries();
	work_through(&server, 6, 7, 40);
	cr_expect(retries() - before >= 40 - 20, "%d", (int)(retries() - before));
	before = retries();
	work_through(&server, 7, 8, 10);
	cr_expect(retries() - before >= 9, "%d", (int)(retries() - before));
}

/* One try for each so far, two from now on. */
Test(feedback, a_profile_can_change)
{
	struct server server = serve_troubled();
	int64_t before = 0;

	for (int i = 0; i < 30; i++) {
		if (i == 16)
			before = retries() - mistaken();
		work_through(&server, i, i + 1, i < 6 ? 1 : 2);
		works(&server, "get ready\r\n");
	}
	cr_expect_eq(retries() - mistaken() - before, 14, "%d",
	             (int)(retries() - mistaken() - before));
}

/* The first failure may be slow to be answered, where the next are not. */
Test(feedback, one_pause_is_no_profile)
{
	struct server server = serve(8);
	struct destination *destination;

	fails(&server, "get one\r\n");
	destination = destination_at_port(&server);
	profile_paused(destination, 40 * NS_PER_MS);
	cr_expect(profile_has_waited(destination, NS_PER_MS));
	cr_expect_not(profile_has_pause(destination));
	profile_paused(destination, 30 * NS_PER_MS);
	cr_expect(profile_has_waited(destination, NS_PER_MS), "nor are two that differ");
	profile_paused(destination, 33 * NS_PER_MS);
	cr_expect_not(profile_has_waited(destination, 25 * NS_PER_MS));
	cr_expect(profile_has_waited(destination, 30 * NS_PER_MS));
	cr_expect(profile_has_pause(destination));
	profile_paused(destination, NS_PER_MS);
	cr_expect(profile_has_waited(destination, NS_PER_MS));
}

/* So late does it try again the first time, and at once from then on. */
Test(feedback, who_is_slow_once_has_one_first_try)
{
	struct server server = serve(8);
	const struct timespec slow = { .tv_nsec = 300 * NS_PER_MS };

	fails(&server, "get one\r\n");
	nanosleep(&slow, NULL);
	for (int i = 0; i < 20; i++)
		fails(&server, "get one\r\n");
	cr_expect_eq(retries(), 20, "%d", (int)retries());
}

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

/* A program with three tries for each request, of which we hold two back: what comes then is the
 * next one, and would be throttled too, and the one after that, if it were taken for a retry. */
Test(feedback, who_gives_up_what_was_throttled_is_left_alone_afterwards)
{
	struct server server = serve_troubled();
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
	struct server server = serve_troubled();
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

/* Where nothing tells when a run began, it teaches nothing. */
Test(feedback, nothing_is_learned_from_refusals_alone)
{
	struct server server = serve_troubled();

	for (int i = 0; i < 20; i++)
		is_refused(&server);
	cr_expect_eq(destination_at_port(&server)->profile, 0);
	cr_expect_eq(retries(), 19, "%d", (int)retries());
}

/* What the next try is taken for; it is then refused by us. */
static enum kind denied(const struct server *server)
{
	struct attempt try;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server->address,
	                                sizeof(server->address)));
	attempt_unanswered(&try, false, monotonic());
	host_close(fd);
	return try.rule->says;
}

/* Told no for ever, a thread that tries one thing until it works serves less than without any
 * retry. */
Test(feedback, who_was_refused_twice_is_unclear_where_it_answers)
{
	struct server server = serve_troubled();

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
	struct server server = serve_troubled();
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
	struct server server = serve_troubled();
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
	struct server server = serve_troubled();
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

Test(feedback, each_thread_is_mixed_for_itself)
{
	struct server server = serve_troubled();
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
	struct server server = serve_troubled();
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
	struct server server = serve_troubled();
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
	struct server server = serve_troubled();
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

/* A herd of which each has been refused would come at the first success. */
Test(feedback, who_was_refused_twice_does_not_go_past_the_ramp)
{
	struct server server = serve_troubled();
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

/* A service in a chain: the hop before it tries each request three times at first, and asks once
 * for each as soon as it is throttled itself. */
Test(feedback, that_somebody_asked_is_believed_again_when_it_is_right)
{
	struct server server = serve_troubled();
	char request[32];

	for (int i = 0; i < 6; i++) {
		demand_asked(5, false);
		fails(&server, "get one\r\n");
	}
	cr_expect(profile_has_no_excuse(destination_at_port(&server)));
	for (int i = 0; i < 8; i++) {
		snprintf(request, sizeof(request), "get other_%d\r\n", i);
		demand_asked(5, false);
		fails(&server, request);
	}
	cr_expect_not(profile_has_no_excuse(destination_at_port(&server)));
}

/* Whatever it is for: one try after the other and nothing but failure. */
Test(feedback, a_storm_is_a_storm)
{
	struct server server = serve_troubled();

	work_through(&server, 0, 60, 1);
	cr_expect(retries() > 60 - 16, "%d", (int)retries());
	cr_expect(mistaken() <= 3, "%d", (int)mistaken());
}

/* Two pieces of work under way at once, as in an event loop. */
Test(feedback, a_failure_stands_until_its_own_request_comes)
{
	struct server server = serve_troubled();

	fails(&server, "get one\r\n");
	fails(&server, "get two\r\n");
	cr_expect_eq(mistaken(), 1);
	fails(&server, "get one\r\n");
	fails(&server, "get two\r\n");
	cr_expect_eq(retries(), 3);
	cr_expect_eq(mistaken(), 1, "%d", (int)mistaken());
}

/* Paid for as a retry, and proved to be none. */
Test(feedback, a_mistake_is_paid_back)
{
	struct server server = serve_troubled();
	struct destination *destination;
	struct talk talk = { .host = socket(AF_INET, SOCK_STREAM, 0) };
	struct attempt try;
	int64_t own, process, now = monotonic();

	fails(&server, "get one\r\n");
	fails(&server, "get one\r\n"); /* after one failure it may be other work */
	destination = destination_at_port(&server);
	cr_assert(attempt_begin_connect(&try, talk.host, (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
	cr_assert(try.trial.retry);
	own = bucket_level(try.account.process, try.account.process_rule, now);
	cr_assert(pace(&try));
	cr_assert(try.paid);
	process = bucket_level(try.account.process, try.account.process_rule, now);
	cr_assert(process < own, "a token was taken");
	own = bucket_level(&destination->budget.bucket, &try.account.policy->bucket, now);
	attempt_start(&try);
	attempt_settle(&try, connect(talk.host, try.address, try.len));
	cr_assert_eq(host_send(talk.host, "get two\r\n"), 9);
	cr_expect_eq(bucket_level(&destination->budget.bucket, &try.account.policy->bucket, now),
	             own + MT_PER_TOKEN);
	cr_expect_eq(bucket_level(try.account.process, try.account.process_rule, now),
	             process + MT_PER_TOKEN);
	cr_expect_eq(mistaken(), 1);
}

struct worker {
	const struct server *server;
	pthread_barrier_t turn;
	char request[32];
	bool over;
};

static void *tries_first(void *given)
{
	struct worker *worker = given;

	for (;;) {
		pthread_barrier_wait(&worker->turn);
		if (worker->over)
			return NULL;
		fails(worker->server, worker->request);
		pthread_barrier_wait(&worker->turn);
	}
}

/* A job that failed goes back to a queue, and another worker takes it from there, while the first
 * lives on and keeps its failures for itself. */
Test(feedback, threads_that_answer_each_other_are_found_out)
{
	struct server server = serve_troubled();
	struct worker worker = { .server = &server };
	int64_t before = 0;
	pthread_t first;

	cr_assert_eq(pthread_barrier_init(&worker.turn, NULL, 2), 0);
	cr_assert_eq(pthread_create(&first, NULL, tries_first, &worker), 0);
	for (int i = 0; i < 8; i++) {
		snprintf(worker.request, sizeof(worker.request), "get job_%d\r\n", i);
		pthread_barrier_wait(&worker.turn);
		pthread_barrier_wait(&worker.turn);
		if (i == 7)
			before = retries();
		works(&server, worker.request);
	}
	cr_expect(profile_is_shared(destination_at_port(&server)));
	cr_expect_eq(retries() - before, 1, "the other's failure is answered here");
	cr_expect(profile_tries_again(destination_at_port(&server), 1, false),
	          "and that says as much as if it were one thread");
	worker.over = true;
	pthread_barrier_wait(&worker.turn);
	pthread_join(first, NULL);
}

/* What a TLS client sends first is different each time, and says nothing. */
Test(feedback, nothing_is_learned_from_tls)
{
	struct server server = serve_troubled();
	char greeting[] = "\x16\x03\x01\x01\x01random?";

	for (int i = 0; i < 12; i++) {
		greeting[5] = (char)('a' + i);
		fails(&server, greeting);
	}
	cr_expect_eq(retries(), 11, "%d", (int)retries());
	cr_expect_eq(mistaken(), 0);
}

/* A request on a kept connection fails; the connection that replaces it carries the same one. */
Test(feedback, a_request_on_a_kept_connection_is_known)
{
	struct server server = serve_troubled();

	for (int i = 0; i < 6; i++) {
		struct talk talk = talk_to(&server);
		char request[32];

		/* Until something has failed the short way is taken, and nothing is known. */
		talk.destination->budget.streak = 1;
		one_turn(&talk);
		shim_region->changes++;
		snprintf(request, sizeof(request), "get job_%d\r\n", i);
		host_send(talk.host, request);
		peer_hears(&talk);
		peer_closes(&talk);
		cr_assert_eq(host_recv(talk.host, 8, 0), 0);
		host_close(talk.host);
	}
	/* Each begins with the same question, which is not the one that had failed. */
	cr_expect(mistaken() >= 1 && mistaken() <= 3, "%d of %d", (int)mistaken(), (int)retries());
}

Test(feedback, nothing_is_looked_at_while_all_is_well)
{
	struct talk talk = talk_start();

	cr_expect_eq(traffic_look(talk.host, "get one\r\n", 9), 0);
}

/* Head and body in one call, as many writers of HTTP have them. */
Test(feedback, every_part_is_looked_at)
{
	static char head[] = "POST /rpc HTTP/1.1\r\nContent-Length: 2\r\n\r\n";
	struct server server = serve_troubled();
	struct talk talk = talk_to(&server);
	struct iovec one[] = { { head, strlen(head) }, { "11", 2 } };
	struct iovec other[] = { { head, strlen(head) }, { "12", 2 } };
	struct iovec in_three[] = { { head, 5 }, { head + 5, strlen(head) - 5 }, { "11", 2 } };
	uint32_t fingerprint = traffic_look_parts(talk.host, one, 2);

	cr_expect_neq(fingerprint, 0);
	cr_expect_eq(traffic_look_parts(talk.host, in_three, 3), fingerprint);
	cr_expect_neq(traffic_look_parts(talk.host, other, 2), fingerprint);
	cr_expect_eq(traffic_look_parts(talk.host, one, 1), 0);
}

/* The kernel would say EFAULT; so it still does. */
Test(feedback, what_is_not_there_is_not_read)
{
	struct server server = serve_troubled();
	struct talk talk = talk_to(&server);
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *there =
	    mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *gone = there + page;
	struct iovec bad = { gone, 20 }, good = { there, 20 }, half_bad[] = { good, bad };
	struct msghdr of_bad = { .msg_iov = &bad, .msg_iovlen = 1 };
	struct msghdr of_gone = { .msg_iov = (struct iovec *)gone, .msg_iovlen = 1 };

	cr_assert(there != MAP_FAILED && mprotect(gone, page, PROT_NONE) == 0);
	errno = 7;
	cr_expect_neq(traffic_look(talk.host, there, page), 0);
	cr_expect_eq(traffic_look(talk.host, gone, 20), 0);
	cr_expect_eq(traffic_look(talk.host, gone - 10, 20), 0);
	cr_expect_eq(traffic_look(talk.host, NULL, 20), 0);
	cr_expect_eq(traffic_look(talk.host, there, 0), 0);
	cr_expect_neq(traffic_look_parts(talk.host, &good, 1), 0);
	cr_expect_eq(traffic_look_parts(talk.host, half_bad, 2), 0);
	cr_expect_eq(traffic_look_parts(talk.host, &bad, 1), 0);
	cr_expect_eq(traffic_look_parts(talk.host, (struct iovec *)gone, 1), 0);
	cr_expect_eq(traffic_look_message(talk.host, &of_bad), 0);
	cr_expect_eq(traffic_look_message(talk.host, &of_gone), 0);
	cr_expect_eq(traffic_look_message(talk.host, (struct msghdr *)gone), 0);
	cr_expect_eq(errno, 7);
}

/* Nothing but a reply is worth another try to it: an error of its connect ends the piece of work.
 * What it does after failures tells nothing of what it does when we refuse it. */
Test(feedback, who_gives_up_when_refused_is_known_to)
{
	struct server server = serve_troubled();
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
	struct server server = serve_troubled();
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
