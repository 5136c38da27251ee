/* SPDX-License-Identifier: MIT */
/* Connects whose verdict is put off to their request, and what that request then is. */
#include "feedback_fixture.h"

#include "config/current.h"
#include "conn/deferred.h"
#include "conn/kept.h"
#include "dest/demand.h"
#include "dest/handed.h"
#include "dest/profile.h"
#include "pace/defer.h"
#include "sys/second_count.h"

#define FAILED 77
#define OTHER  78

TestSuite(deferred, .init = start_shim);

/* A connection that went although it might not, to answer a failure whose request is known. */
static struct talk put_off(void)
{
	struct talk talk = talk_start();

	STORE(talk.entry->claimed_number, 2);
	STORE(talk.entry->claimed_fingerprint, FAILED);
	STORE(talk.entry->claimed_owner, thread_id());
	STORE(talk.entry->claimed_at, monotonic());
	STORE(talk.destination->budget.failed_at, monotonic());
	socket_mark(talk.entry, TRAIT_RETRY | TRAIT_REPLY_FAILED);
	cr_assert(deferred_waits(talk.entry));
	return talk;
}

/* True if its first request is to be paced; *rule then says what it is. */
static bool is_paced(const struct talk *talk, uint32_t fingerprint, const char **rule)
{
	struct attempt try;
	bool paced = deferred_begin(&try, talk->host, talk->entry, fingerprint, 0);

	*rule = paced ? try.rule->name : "none";
	cr_expect_not(deferred_waits(talk->entry), "it is judged once");
	return paced;
}

Test(deferred, the_request_that_failed_is_a_repeat)
{
	struct talk talk = put_off();
	const char *rule;

	cr_expect(is_paced(&talk, FAILED, &rule));
	cr_expect_str_eq(rule, "same-request");
}

Test(deferred, another_request_goes_and_the_failure_stands)
{
	struct talk talk = put_off();
	struct unanswered claimed;
	const char *rule;

	cr_expect_not(is_paced(&talk, OTHER, &rule));
	cr_expect_eq(LOAD(talk.entry->traits) & TRAIT_RETRY, 0);
	cr_expect(failures_claim_request(talk.destination, FAILED, thread_id(), 3600 * NS_PER_S,
	                                 monotonic(), &claimed));
	cr_expect_eq(claimed.number, 2);
}

Test(deferred, what_nobody_can_say_is_what_its_connect_was)
{
	struct talk talk = put_off();
	const char *rule;

	cr_expect(is_paced(&talk, 0, &rule));
	cr_expect_str_eq(rule, "loop");
}

/* A pool may open one in bad times, and use it in good ones. */
Test(deferred, what_is_sent_once_all_is_well_is_first_work)
{
	struct talk talk = put_off();
	const char *rule;

	STORE(talk.destination->budget.failed_at,
	      monotonic() - config_current()->policies[0].horizon - NS_PER_S);
	cr_expect_not(is_paced(&talk, 0, &rule), "%s", rule);
}

/* Two threads send on it at once, and both have found it waiting. */
Test(deferred, who_comes_second_finds_it_judged)
{
	struct talk talk = put_off();
	struct attempt try;
	const char *rule;
	int64_t known;

	socket_mark(talk.entry, TRAIT_CLAIMED_COUNTED);
	cr_expect(is_paced(&talk, FAILED, &rule));
	known = LOAD(talk.destination->profile);
	cr_expect_not(deferred_begin(&try, talk.host, talk.entry, 0, 0));
	cr_expect_not(deferred_begin(&try, talk.host, talk.entry, OTHER, 0));
	cr_expect_eq(LOAD(talk.destination->profile), known);
}

/* A refused one is ended, and what is sent on it goes nowhere. */
static void is_ended(enum socket_state state)
{
	struct talk talk = put_off();
	struct attempt try;
	char byte;

	STORE(talk.destination->budget.barred, 1);
	STORE(talk.destination->budget.streak, 2);
	STORE(talk.destination->budget.admitted_at, monotonic());
	STORE(talk.destination->budget.wanted_at, monotonic());
	fcntl(talk.host, F_SETFL, O_NONBLOCK);
	STORE(talk.entry->state, state);
	cr_assert(deferred_begin(&try, talk.host, talk.entry, FAILED, 0));
	cr_expect_not(pace(&try));
	cr_expect_eq(try.told, 0, "the host is to think that it went");
	cr_expect_eq(talk.entry->state, SOCKET_CUT);
	cr_expect_eq(recv(talk.peer, &byte, 1, 0), 0);
}

Test(deferred, a_repeat_that_may_not_go_ends_its_connection)
{
	is_ended(SOCKET_OPEN);
}

Test(deferred, so_it_does_where_nobody_has_told_that_it_is_connected)
{
	is_ended(SOCKET_CONNECTING);
}

/* It is told an error, and the connection stands: what it sends on it next is judged, too. */
Test(deferred, a_repeat_that_is_reset_is_judged_each_time)
{
	struct policy *policy = (struct policy *)&config_current()->policies[0];
	struct talk talk = put_off();
	struct attempt try;

	policy->http_deny = HTTP_DENY_RESET;
	STORE(talk.destination->budget.barred, 1);
	STORE(talk.destination->budget.streak, 2);
	fcntl(talk.host, F_SETFL, O_NONBLOCK);
	for (int i = 0; i < 3; i++) {
		STORE(talk.destination->budget.admitted_at, monotonic());
		STORE(talk.destination->budget.wanted_at, monotonic());
		cr_assert(deferred_waits(talk.entry), "try %d", i);
		cr_assert(deferred_begin(&try, talk.host, talk.entry, FAILED, 0), "try %d", i);
		cr_expect_str_eq(try.rule->name, "same-request");
		cr_expect_not(pace(&try));
		cr_expect_eq(try.told, ECONNRESET);
	}
}

/* What it is has been said: another failure of that request is another's to answer. */
Test(deferred, its_exchange_answers_no_other_failure)
{
	struct talk talk = put_off();
	struct unanswered claimed, failure = {
		.owner = thread_id(), .at = monotonic(), .number = 1, .fingerprint = FAILED
	};
	struct attempt try;

	socket_mark(talk.entry, TRAIT_HTTP);
	cr_assert(deferred_begin(&try, talk.host, talk.entry, FAILED, 0));
	attempt_start_request(&try);
	failures_add(talk.destination, &failure);
	cr_assert_eq(traffic_begin(talk.host, FAILED), TRAFFIC_BEGUN);
	cr_expect(failures_claim_request(talk.destination, FAILED, thread_id(), 3600 * NS_PER_S,
	                                 monotonic(), &claimed));
}

/* A signal came before a byte of it went. */
Test(deferred, a_repeat_that_did_not_go_stays_paid)
{
	struct talk talk = put_off();
	const uint32_t paid = TRAIT_RETRY | TRAIT_PAID;
	struct attempt try;

	socket_mark(talk.entry, TRAIT_HTTP);
	cr_assert(deferred_begin(&try, talk.host, talk.entry, FAILED, 0));
	try.paid = true;
	attempt_start_request(&try);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(traffic_begin(talk.host, FAILED), TRAFFIC_BEGUN);
		cr_expect_eq(LOAD(talk.entry->traits) & paid, paid, "time %d", i);
		errno = EINTR;
		traffic_sent(talk.host, -1, 0, TRAFFIC_BEGUN);
		cr_assert_eq(talk.entry->state, SOCKET_OPEN);
	}
	cr_expect_eq(mistaken(), 0);
	cr_expect_not(failures_are_known(talk.destination));
}

/* Its policy has been switched off meanwhile. */
Test(deferred, what_it_is_is_learned_once)
{
	struct policy *policy = (struct policy *)&config_current()->policies[0];
	struct talk talk = put_off();
	const char *rule;
	int64_t known;

	socket_mark(talk.entry, TRAIT_CLAIMED_COUNTED);
	policy->mode = MODE_OFF;
	cr_expect_not(is_paced(&talk, FAILED, &rule));
	known = LOAD(talk.destination->profile);
	cr_expect_neq(known, 0);
	traffic_sent(talk.host, 1, 0, FAILED);
	cr_expect_eq(LOAD(talk.destination->profile), known);
}

/* Other work counts as any first try does while it is in flight, and no longer. */
Test(deferred, other_work_is_in_flight_until_it_is_answered)
{
	struct policy *policy = (struct policy *)&config_current()->policies[0];
	struct talk talk = put_off();
	const struct slices *requests = &talk.destination->budget.requests;
	const char *rule;

	policy->strategy = STRATEGY_CONCURRENCY;
	policy->plain = false;
	cr_expect_not(is_paced(&talk, OTHER, &rule));
	cr_expect_eq(slices_covering(requests, policy->window, monotonic()), 1);
	socket_move(talk.host, talk.entry, SOCKET_OPEN, ON_REPLY);
	cr_expect_eq(slices_covering(requests, policy->window, monotonic()), 0);
}

/* An event loop with work that is answered beside a request that fails. */
static struct server mixed(void)
{
	struct server server = serve_after_failure();

	for (int i = 0; i < 5; i++) {
		fails(&server, "get job_0\r\n");
		works(&server, i % 2 ? "get more\r\n" : "get other\r\n");
	}
	fails(&server, "get job_0\r\n");
	return server;
}

enum but {
	AS_IT_IS,
	HAS_DATA,
	IS_REQUEST,
	IS_DATAGRAM,
	IS_OF_LINEAGE,
	IS_OVER_RATE,
	MEETS_NOBODY,
	CARRIES,
	SPEAKS_FIRST,
	PASSES,
	IS_SILENT,
	IS_BARRED,
	IS_OPEN,
	RETURNS,
	FAILS_UNKNOWN,
	COMES_SECOND,
	TRIED_OFTEN,
	MIXED_LONG_AGO
};

static bool is_put_off(const struct server *server, enum but but)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct attempt try;
	bool deferred;

	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server->address,
	                                sizeof(server->address)));
	try.has_data = but == HAS_DATA;
	try.is_request = but == IS_REQUEST;
	try.is_datagram = but == IS_DATAGRAM;
	try.lineage = but == IS_OF_LINEAGE;
	try.over_rate = but == IS_OVER_RATE;
	if (but == COMES_SECOND || but == TRIED_OFTEN)
		try.claimed.number = but == TRIED_OFTEN ? 8 : 3;
	deferred = defer(&try);
	attempt_start(&try);
	cr_expect_eq(deferred_waits(try.entry), deferred);
	socket_forget(fd); /* it is not made */
	attempt_unanswered(&try, false, monotonic());
	host_close(fd);
	return deferred;
}

/* Of a server of its own, but for one thing. */
static bool is_put_off_but(enum but but)
{
	struct server server = mixed();
	struct destination *destination = destination_at_port(&server);
	struct policy *policy = (struct policy *)&config_current()->policies[0];
	struct allowance *allowance = &destination->budget.allowance;
	bool put_off;

	cr_assert(profile_is_mixed(destination, thread_id(), -1));
	if (but == MEETS_NOBODY)
		STORE(destination->last_unmet, 1);
	if (but == CARRIES)
		profile_carry(destination);
	if (but == SPEAKS_FIRST)
		STORE(destination->converses, 1);
	if (but == PASSES)
		policy->http_deny = HTTP_DENY_PASS;
	if (but == IS_SILENT)
		STORE(allowance->answered_at, monotonic() - 2 * NS_PER_S);
	if (but == IS_BARRED)
		STORE(destination->budget.barred, 1);
	if (but == RETURNS) {
		ramp_throttled(&destination->budget.ramp, monotonic());
		ramp_begin(&destination->budget.ramp, true, monotonic());
	}
	if (but == FAILS_UNKNOWN)
		memset((void *)destination->details, 0, sizeof(destination->details));
	if (but == IS_OPEN) {
		policy->breaker.on = true;
		policy->breaker.open = 3600 * NS_PER_S;
		STORE(destination->budget.breaker.state, (monotonic() + 3600 * NS_PER_S) << 2 | 1);
	}
	if (but == COMES_SECOND || but == TRIED_OFTEN)
		STORE(destination->deferred_now, second_count(monotonic() / NS_PER_S, 1));
	if (but == MIXED_LONG_AGO) {
		int64_t then = monotonic() - ALLOWANCE_WINDOW - NS_PER_S;

		memset((void *)destination->mixed, 0, sizeof(destination->mixed));
		if (then > 0) /* or the machine has only just booted */
			profile_mixed(destination, thread_id(), then);
	}
	put_off = is_put_off(&server, but);
	policy->http_deny = HTTP_DENY_CLOSE;
	policy->breaker.on = false;
	return put_off;
}

Test(deferred, a_connect_of_a_thread_that_has_other_work_there_is_put_off)
{
	cr_expect(is_put_off_but(AS_IT_IS));
	cr_expect_not(is_put_off_but(HAS_DATA), "its request is on its way");
	cr_expect_not(is_put_off_but(IS_REQUEST), "it is judged now");
	cr_expect_not(is_put_off_but(IS_DATAGRAM), "it is its request");
	cr_expect_not(is_put_off_but(IS_OF_LINEAGE), "its process was started for it");
	cr_expect_not(is_put_off_but(IS_OVER_RATE), "the rate bounds connects");
	cr_expect_not(is_put_off_but(MEETS_NOBODY), "what fails are connects");
	cr_expect_not(is_put_off_but(CARRIES), "its request is not seen");
	cr_expect_not(is_put_off_but(SPEAKS_FIRST), "its request comes after an answer");
	cr_expect_not(is_put_off_but(PASSES), "no request would be refused");
	cr_expect_not(is_put_off_but(IS_SILENT), "nothing is answered");
	cr_expect_not(is_put_off_but(IS_BARRED), "nothing is to be tried again");
	cr_expect_not(is_put_off_but(IS_OPEN), "nothing is to go at all");
	cr_expect_not(is_put_off_but(RETURNS), "it is on its way back");
	cr_expect_not(is_put_off_but(FAILS_UNKNOWN), "no request would be known again");
	cr_expect(is_put_off_but(COMES_SECOND));
	cr_expect_not(is_put_off_but(TRIED_OFTEN), "one goes for ten answers");
	cr_expect_not(is_put_off_but(MIXED_LONG_AGO), "it has no other work any more");
	cr_expect(is_put_off_but(AS_IT_IS));
}

/* One after the other, each tried three times: after one or two tries comes another. */
Test(deferred, a_number_of_tries_after_which_the_program_tries_again_tells)
{
	struct server server = serve_after_failure();

	for (int i = 0; i < 5; i++) {
		work_through(&server, i, i + 1, 3);
		works(&server, i % 2 ? "get more\r\n" : "get other\r\n");
	}
	cr_assert(profile_is_mixed(destination_at_port(&server), thread_id(), -1));
	work_through(&server, 6, 7, 2);
	cr_expect_not(is_put_off(&server, AS_IT_IS));
	/* More than was asked for, and within what is answered. */
	STORE(destination_at_port(&server)->deferred_now, second_count(monotonic() / NS_PER_S, 7));
	work_through(&server, 7, 8, 2);
	thread_mine()->serves_many = true;
	cr_expect(is_put_off(&server, AS_IT_IS), "it may be for another of those that it serves");
	thread_mine()->serves_many = false;
}

/* The first of all requests, to which the server says when it may come again. */
static struct server put_off_at_first(void)
{
	static const char later[] =
	    "HTTP/1.1 429 Later\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n";
	struct server server = serve(8);
	struct talk talk = talk_to(&server);

	cr_assert(host_send(talk.host, "GET /one HTTP/1.1\r\nHost: a\r\n\r\n") > 0);
	peer_hears(&talk);
	peer_says(&talk, later);
	cr_assert_eq(host_recv(talk.host, sizeof(later), 0), (ssize_t)sizeof(later) - 1);
	host_close(talk.host);
	return server;
}

Test(deferred, where_a_server_has_only_said_when_a_few_are_put_off)
{
	struct server server = put_off_at_first();
	int put_off = 0;

	cr_assert(failures_are_known(destination_at_port(&server)));
	for (int i = 0; i < 10; i++)
		put_off += is_put_off(&server, AS_IT_IS);
	cr_expect_eq(put_off, 5, "%d", put_off);
}

Test(deferred, where_a_server_has_said_nothing_and_answered_nothing_none_is_put_off)
{
	struct server server = serve(8);

	fails(&server, "get one\r\n");
	fails(&server, "get two\r\n");
	cr_assert(failures_are_known(destination_at_port(&server)));
	for (int i = 0; i < 3; i++)
		cr_expect_not(is_put_off(&server, AS_IT_IS));
}

/* Of a thread that has no other work there, and has just failed again. */
static bool loop_is_put_off(const struct server *server)
{
	struct destination *destination = destination_at_port(server);

	fails(server, "get job_0\r\n");
	memset((void *)destination->mixed, 0, sizeof(destination->mixed));
	return is_put_off(server, AS_IT_IS);
}

/* Without other work there, and stuck: it is refused at its connect. */
Test(deferred, a_loop_beside_the_work_of_others_is_not_put_off)
{
	struct server server = mixed();

	for (int i = 0; i < 4; i++)
		cr_expect_not(loop_is_put_off(&server));
}

/* Another thread reads the requests, and this one tries as soon as one has come. */
Test(deferred, a_thread_that_is_handed_requests_is_put_off_each_time)
{
	struct server server = mixed();
	int put_off = 0;

	for (int i = 0; i < 12; i++) {
		demand_count_served(monotonic());
		handed_read(monotonic());
		put_off += loop_is_put_off(&server);
	}
	cr_expect_geq(put_off, 6, "%d", put_off);
}

/* A worker that reads one request after the other. */
Test(deferred, a_loop_that_was_asked_for_something_is_put_off_once)
{
	struct server server = mixed();
	int put_off = 0;

	for (int i = 0; i < 5; i++)
		demand_request_read(server.fd, false);
	for (int i = 0; i < 4; i++)
		put_off += loop_is_put_off(&server);
	cr_expect_eq(put_off, 1, "%d", put_off);
	demand_request_read(server.fd, false);
	for (int i = 0; i < 4; i++)
		put_off += loop_is_put_off(&server);
	cr_expect_eq(put_off, 2, "and once for what it is asked next: %d", put_off);
}

/* An event loop, in which each may be for another of its clients. */
Test(deferred, no_more_are_put_off_than_were_asked_for)
{
	struct server server = mixed();
	int put_off = 0;

	thread_mine()->serves_many = true;
	for (int i = 0; i < 3; i++)
		demand_request_read(server.fd, false);
	for (int i = 0; i < 20; i++)
		put_off += loop_is_put_off(&server);
	/* Twice as many where a second ends meanwhile. */
	cr_expect(put_off >= 3 && put_off <= 6, "%d", put_off);
}
