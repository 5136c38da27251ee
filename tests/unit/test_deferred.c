/* SPDX-License-Identifier: MIT */
/* Connects whose verdict is put off to their request, and what that request then is. */
#include "feedback_fixture.h"

#include "config/current.h"
#include "conn/deferred.h"
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

/* A refused one is ended, and what is sent on it goes nowhere. */
Test(deferred, a_repeat_that_may_not_go_ends_its_connection)
{
	struct talk talk = put_off();
	struct attempt try;
	char byte;

	STORE(talk.destination->budget.barred, 1);
	STORE(talk.destination->budget.streak, 2);
	STORE(talk.destination->budget.admitted_at, monotonic());
	STORE(talk.destination->budget.wanted_at, monotonic());
	fcntl(talk.host, F_SETFL, O_NONBLOCK);
	cr_assert(deferred_begin(&try, talk.host, talk.entry, FAILED, 0));
	cr_expect_not(pace(&try));
	cr_expect_eq(try.told, 0, "the host is to think that it went");
	cr_expect_eq(talk.entry->state, SOCKET_CUT);
	cr_expect_eq(recv(talk.peer, &byte, 1, 0), 0);
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

static bool is_put_off(const struct server *server, bool has_data)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct attempt try;
	bool deferred;

	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server->address,
	                                sizeof(server->address)));
	try.has_data = has_data;
	deferred = defer(&try);
	attempt_unanswered(&try, false, monotonic());
	host_close(fd);
	return deferred;
}

Test(deferred, a_connect_of_a_thread_that_has_other_work_there_is_put_off)
{
	struct server server = mixed();
	struct destination *destination = destination_at_port(&server);
	struct policy *policy = (struct policy *)&config_current()->policies[0];

	cr_assert(profile_is_mixed(destination, thread_id(), -1));
	cr_expect(is_put_off(&server, false));
	cr_expect_not(is_put_off(&server, true), "its request is on its way");
	STORE(destination->last_unmet, 1);
	cr_expect_not(is_put_off(&server, false), "what fails are connects");
	STORE(destination->last_unmet, 0);
	policy->http_deny = HTTP_DENY_PASS;
	cr_expect_not(is_put_off(&server, false), "no request would be refused");
	policy->http_deny = HTTP_DENY_CLOSE;
	STORE(destination->budget.allowance.answered_at, monotonic() - 2 * NS_PER_S);
	memset((void *)&destination->budget.allowance.answers, 0,
	       sizeof(destination->budget.allowance.answers));
	cr_expect_not(is_put_off(&server, false), "nothing is answered");
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
	cr_expect_not(is_put_off(&server, false));
	/* More than was asked for, and within what is answered. */
	STORE(destination_at_port(&server)->deferred_now, second_count(monotonic() / NS_PER_S, 7));
	work_through(&server, 7, 8, 2);
	thread_mine()->serves_many = true;
	cr_expect(is_put_off(&server, false), "it may be for another of those that it serves");
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
		put_off += is_put_off(&server, false);
	cr_expect_eq(put_off, 5, "%d", put_off);
}

Test(deferred, where_a_server_has_said_nothing_and_answered_nothing_none_is_put_off)
{
	struct server server = serve(8);

	fails(&server, "get one\r\n");
	fails(&server, "get two\r\n");
	cr_assert(failures_are_known(destination_at_port(&server)));
	for (int i = 0; i < 3; i++)
		cr_expect_not(is_put_off(&server, false));
}

/* Of a thread that has no other work there, and has just failed again. */
static bool loop_is_put_off(const struct server *server)
{
	struct destination *destination = destination_at_port(server);

	fails(server, "get job_0\r\n");
	memset((void *)destination->mixed, 0, sizeof(destination->mixed));
	return is_put_off(server, false);
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
}
