/* SPDX-License-Identifier: MIT */
/* What HTTP/1 replies do to a connection, its destination, and the request after them. */
#include "conn/http_reply.h"
#include "budget/streak.h"
#include "pace/pace.h"
#include "track_fixture.h"

#include "dest/demand.h"
#include "conn/kept.h"
#include "dest/tries.h"
#include "config/current.h"

#define BUSY  "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
#define LATER "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n"
#define FINE  "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define ASK   "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OTHER "GET /other HTTP/1.1\r\nHost: a\r\n\r\n"

static void start_http(void)
{
	start_shim();
}

TestSuite(http_reply, .init = start_http);

/* The program sends a request as the hooks do, but without a wait. Returns whether it was taken for
 * a retry. */
static bool asks(const struct talk *talk, const char *text)
{
	size_t n = strlen(text);
	uint32_t fingerprint = traffic_look(talk->host, text, n);
	struct attempt try;
	bool retry = traffic_may_retry(talk->host, fingerprint) &&
	             attempt_begin_request(&try, talk->host, fingerprint, 0);

	cr_assert(socket_watched(talk->host) & WATCH_WRITE);
	if (retry)
		attempt_start_request(&try);
	fingerprint = traffic_begin(talk->host, fingerprint);
	cr_assert_eq(traffic_sent(talk->host, send(talk->host, text, n, 0), 0, fingerprint),
	             (ssize_t)n);
	peer_hears(talk);
	return retry;
}

/* The peer replies, and the program reads in pieces of n, everything there is. */
static void replies(const struct talk *talk, const char *text, size_t n)
{
	size_t left = strlen(text);

	peer_says(talk, text);
	while (left > 0) {
		ssize_t got = host_recv(talk->host, n < left ? n : left, 0);

		cr_assert(got > 0);
		left -= (size_t)got;
	}
}

Test(http_reply, of_failure_is_no_success)
{
	struct talk talk = talk_start();

	cr_expect_not(asks(&talk, ASK));
	replies(&talk, BUSY, 64);
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
	cr_expect_eq(talk.destination->budget.streak, 1);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
	cr_expect_eq(talk.destination->budget.not_before, 0);
}

Test(http_reply, of_a_gateway_that_reaches_nobody_is_a_failure)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, "HTTP/1.1 502 X\r\n\r\n", 64);
	asks(&talk, ASK);
	replies(&talk, "HTTP/1.1 504 X\r\n\r\n", 64);
	EXPECT_COUNTED(talk.destination, 0, 2, FAILURE_STATUS);
}

Test(http_reply, of_another_status_is_a_success)
{
	static const char *const fine[] = { FINE, "HTTP/1.0 404 Not found\r\n\r\n",
		                            "HTTP/1.1 301 X\r\n\r\n", "HTTP/1.1 501 X\r\n\r\n" };
	struct talk talk = talk_start();

	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		talk.destination->budget.streak = 2;
		asks(&talk, ASK);
		replies(&talk, fine[i], 64);
		cr_expect_eq(talk.destination->budget.streak, 0);
		EXPECT_COUNTED(talk.destination, i + 1, 0, FAILURE_NONE);
	}
}

/* However it is cut: counted once, and only when the status is known. */
Test(http_reply, is_read_in_pieces)
{
	for (size_t piece = 1; piece < 40; piece++) {
		struct talk talk = talk_start();
		int64_t before = monotonic(), asked;

		asks(&talk, ASK);
		replies(&talk, LATER, piece);
		cr_expect_eq(talk.destination->tally.failures[FAILURE_STATUS], 1, "pieces of %zu",
		             piece);
		cr_expect_eq(talk.destination->tally.statuses[STATUS_503], 1);
		cr_expect_eq(talk.destination->tally.successes, 0);
		cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
		asked = talk.destination->budget.not_before;
		cr_expect(asked >= before + 7 * NS_PER_S && asked <= monotonic() + 7 * NS_PER_S,
		          "pieces of %zu", piece);
		cr_expect(asks(&talk, ASK));
		host_close(talk.host);
		close(talk.peer);
	}
}

/* An event loop reads until there is nothing more yet. */
Test(http_reply, is_read_in_pieces_with_nothing_between)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	for (const char *at = LATER; *at; at++) {
		replies(&talk, (char[]) { *at, 0 }, 1);
		cr_expect_eq(host_recv(talk.host, 8, MSG_DONTWAIT), -1);
		cr_expect_eq(errno, EAGAIN);
	}
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
	cr_expect(talk.destination->budget.not_before > monotonic());
	cr_expect(asks(&talk, ASK));
}

/* The same where that there is nothing yet is heard for the first time within the head. */
Test(http_reply, of_failure_goes_on_after_nothing_yet)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, "HTTP/1.1 503 Not now", 64);
	cr_expect_eq(talk.entry->state, SOCKET_HEAD);
	cr_expect_eq(host_recv(talk.host, 8, MSG_DONTWAIT), -1);
	cr_expect_eq(talk.entry->state, SOCKET_HEAD);
	replies(&talk, "\r\nRetry-After: 7\r\n\r\n", 64);
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
	cr_expect(talk.destination->budget.not_before > monotonic());
	cr_expect(asks(&talk, ASK));
}

Test(http_reply, is_read_from_many_parts)
{
	struct talk talk = talk_start();
	char data[64];
	struct iovec parts[64];

	asks(&talk, ASK);
	peer_says(&talk, LATER);
	for (int i = 0; i < 64; i++)
		parts[i] = (struct iovec) { &data[i], 1 };
	for (size_t left = strlen(LATER); left > 0;) {
		ssize_t got = readv(talk.host, parts, 64);

		cr_assert(got > 0);
		traffic_received_parts(talk.host, got, 1, 0, parts, 64);
		left -= (size_t)got;
	}
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
	cr_expect(talk.destination->budget.not_before > monotonic());
}

Test(http_reply, that_is_interim_says_nothing)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, "HTTP/1.1 100 Continue\r\n\r\n", 64);
	EXPECT_NOTHING(talk.destination);
	cr_expect_eq(talk.entry->state, SOCKET_ASKED);
	replies(&talk, BUSY, 64);
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
}

Test(http_reply, to_the_next_request_is_read_anew)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, FINE, 5);
	asks(&talk, ASK);
	replies(&talk, BUSY, 5);
	cr_expect(asks(&talk, ASK));
	replies(&talk, BUSY, 64);
	cr_expect_eq(talk.destination->budget.streak, 2);
	cr_expect(asks(&talk, ASK));
	replies(&talk, FINE, 64);
	cr_expect_eq(talk.destination->budget.streak, 0);
	cr_expect_not(asks(&talk, ASK));
	EXPECT_COUNTED(talk.destination, 2, 2, FAILURE_STATUS);
	cr_expect_eq(talk.destination->tally.retries, 2);
}

/* A body that begins like a reply is none: it is not looked at. */
Test(http_reply, is_only_its_head)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, FINE, 64);
	replies(&talk, BUSY, 64);
	EXPECT_SUCCESS(talk.destination);
}

Test(http_reply, of_another_protocol_is_left_alone)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, "+OK HTTP/1.1 503\r\n", 2);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_not(talk.entry->traits & TRAIT_HTTP);
	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_STATUS], 0);
}

Test(http_reply, after_a_switch_is_left_alone)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, "HTTP/1.1 101 Switching Protocols\r\n\r\n", 64);
	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_STATUS], 0);
}

/* Half a status line is no answer. */
Test(http_reply, that_breaks_off_is_a_failure)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, "HTTP/1.1 2", 64);
	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* Within the head of a failure nothing more is counted. */
Test(http_reply, that_breaks_off_in_its_head_counts_once)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, "HTTP/1.1 503 Busy\r\nRetry-", 64);
	cr_expect_eq(talk.entry->state, SOCKET_HEAD);
	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
}

Test(http_reply, after_a_timeout_counts_once)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	atomic_fetch_or(&talk.entry->traits,
	                TRAIT_TIMED_OUT); /* as conn/exchange_end.c counts it */
	replies(&talk, BUSY, 64);
	EXPECT_NOTHING(talk.destination);
	cr_expect(talk.entry->traits & TRAIT_REPLY_FAILED);
}

/* Prints are known once something has failed. */
Test(http_reply, that_fails_is_answered_by_its_own_request)
{
	struct server server = serve(8);
	struct talk one = talk_to(&server), two = talk_to(&server);

	asks(&one, ASK);
	replies(&one, BUSY, 64);
	cr_expect(asks(&one, ASK)); /* not known yet: what follows is taken for it */
	replies(&one, BUSY, 64);
	cr_expect_not(asks(&two, OTHER));
	replies(&two, BUSY, 64);
	cr_expect_not(asks(&one, "GET /new HTTP/1.1\r\n\r\n"));
	replies(&one, "HTTP/1.1 404 X\r\n\r\n", 64);
	one.destination->budget.failed_at = monotonic();
	cr_expect(asks(&two, ASK)); /* by whichever connection */
	replies(&two, "HTTP/1.1 404 X\r\n\r\n", 64);
	one.destination->budget.failed_at = monotonic();
	cr_expect(asks(&one, OTHER));
	cr_expect_eq(one.destination->tally.retries, 3);
}

#define POST "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"

/* The head is judged when nobody knows of which request it is. */
Test(http_reply, of_failure_makes_no_retry_of_a_request_that_is_not_whole)
{
	struct talk talk = talk_start();

	asks(&talk, POST "one.");
	replies(&talk, BUSY, 64);
	for (int i = 0; i < 3; i++) {
		cr_expect_not(asks(&talk, POST));
		cr_expect(talk.entry->traits & TRAIT_PARTIAL);
		cr_expect_eq(talk.entry->fingerprint, 0);
		cr_expect_not(asks(&talk, "two."));
		cr_expect_not(talk.entry->traits & TRAIT_PARTIAL);
		cr_expect_not(socket_watched(talk.host) & WATCH_WRITE);
		cr_expect_neq(talk.entry->fingerprint, 0);
		cr_expect_eq(!(talk.entry->traits & TRAIT_RETRY), i == 0, "%d", i);
		replies(&talk, BUSY, 64);
	}
	cr_expect(asks(&talk, POST "two."));
	replies(&talk, FINE, 64);
}

/* A body that goes by a call which shows no bytes, or that goes in part only. */
Test(http_reply, to_a_request_that_was_not_seen_whole)
{
	struct talk talk = talk_start();

	asks(&talk, "GET / HTTP/1.1\r\n\r\n");
	replies(&talk, BUSY, 64);
	for (int i = 0; i < 2; i++) {
		cr_expect_not(asks(&talk, POST));
		cr_expect(socket_watched(talk.host) & WATCH_WRITE);
		if (i == 1)
			traffic_look(talk.host, "on", 2);
		traffic_sent(talk.host, i == 0 ? 4 : 1, 0, 0);
		cr_expect_not(talk.entry->traits & TRAIT_PARTIAL);
		cr_expect_not(socket_watched(talk.host) & WATCH_WRITE);
		cr_expect_eq(talk.entry->fingerprint, 0);
		replies(&talk, BUSY, 64);
	}
}

/* Another thread has the reply before the one that sends is back from its call. */
Test(http_reply, may_be_read_before_the_send_returns)
{
	struct talk talk = talk_start();
	static const char *const said[] = { BUSY, BUSY, FINE, BUSY, FINE, FINE };

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		uint32_t fingerprint = traffic_look(talk.host, ASK, strlen(ASK));

		fingerprint = traffic_begin(talk.host, fingerprint);
		cr_assert_eq(send(talk.host, ASK, strlen(ASK), 0), (ssize_t)strlen(ASK));
		peer_hears(&talk);
		peer_says(&talk, said[i]);
		cr_assert(socket_watched(talk.host) & WATCH_READ, "of request %zu", i);
		for (size_t left = strlen(said[i]); left > 0;) {
			ssize_t got = host_recv(talk.host, 20, 0);

			cr_assert(got > 0);
			left -= (size_t)got;
		}
		traffic_sent(talk.host, (ssize_t)strlen(ASK), 0, fingerprint);
		cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
	}
	cr_expect_eq(talk.destination->tally.failures[FAILURE_STATUS], 3);
	cr_expect_eq(talk.destination->budget.streak, 0);
}

/* A send that does not go leaves all as it was. */
Test(http_reply, to_a_request_that_did_not_go_is_not_waited_for)
{
	struct talk talk = talk_start();
	uint32_t fingerprint;

	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	cr_expect(asks(&talk, ASK));
	replies(&talk, FINE, 64);
	fingerprint = traffic_begin(talk.host, traffic_look(talk.host, ASK, strlen(ASK)));
	errno = EAGAIN;
	cr_expect_eq(traffic_sent(talk.host, -1, MSG_DONTWAIT, fingerprint), -1);
	cr_expect_eq(errno, EAGAIN);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_STATUS);
}

/* The whole of it: a connect after the failure answers it as well as a request would. */
Test(http_reply, that_fails_makes_a_retry_of_the_next_connect)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);

	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	host_close(talk.host);
	talk_to(&server);
	cr_expect_eq(talk.destination->tally.retries, 1);
}

Test(http_reply, is_not_read_where_the_file_says_so)
{
	struct talk talk;

	((struct config *)config_current())->policies[0].http = false;
	talk = talk_start();
	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	EXPECT_SUCCESS(talk.destination);
}

Test(http_reply, after_it_all_is_calm_again)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	asks(&talk, ASK);
	replies(&talk, FINE, 64);
	/* Answers are counted for as long as a failure is recent. */
	atomic_fetch_sub(&talk.destination->budget.allowance.failed_at, 2 * ALLOWANCE_WINDOW);
	for (int i = 0; i < 50; i++) {
		asks(&talk, ASK);
		replies(&talk, FINE, 64);
	}
	cr_expect_eq(talk.entry->seen_changes, (uint32_t)shim_region->changes);
	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_STATUS], 2);
}

/* A program that sends before it has read the whole reply of failure: what is left of it is read in
 * the next turn, and says nothing of that. */
Test(http_reply, whose_rest_comes_late_is_no_success)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\n", 64);
	cr_expect_eq(talk.destination->budget.streak, 1);
	cr_expect(asks(&talk, ASK));
	replies(&talk, "rest", 64);
	cr_expect_eq(talk.destination->budget.streak, 1);
	cr_expect_eq(talk.destination->tally.successes, 0);
	asks(&talk, ASK);
	replies(&talk, FINE, 64);
	cr_expect_eq(talk.destination->budget.streak, 0);
}

/* A proxy that is asked for the same thing again and again, by clients of its own. */
Test(http_reply, of_failure_to_what_is_asked_for_anew_is_asked_once_more)
{
	struct talk talk = talk_start();

	for (int i = 0; i < 4; i++) {
		demand_asked(talk.host, false);
		cr_expect_not(asks(&talk, ASK), "%d", i);
		replies(&talk, BUSY, 64);
		usleep(1000);
	}
	cr_expect(asks(&talk, ASK), "by itself");
}

/* What differs in each request may be a nonce. */
Test(http_reply, of_failure_where_nothing_is_answered_tells_no_other_requests)
{
	struct talk talk = talk_start();
	char text[64];

	for (int i = 0; i < 12; i++) {
		bool retry;

		snprintf(text, sizeof(text), "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
		retry = asks(&talk, text);
		cr_expect(retry || i < 3 + ALLOWANCE_START, "%d", i);
		replies(&talk, BUSY, 64);
	}
	snprintf(text, sizeof(text), "GET /20 HTTP/1.1\r\nHost: x\r\n\r\n");
	asks(&talk, text);
	replies(&talk, FINE, 64);
	for (int i = 21; i < 38; i++) {
		snprintf(text, sizeof(text), "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
		cr_expect_not(asks(&talk, text), "%d", i);
		replies(&talk, BUSY, 64);
	}
}

/* While a request waits another thread may close its socket, and the kernel give the number to
 * another. */
Test(http_reply, makes_a_request_wait_for_its_own_socket_only)
{
	struct talk talk = talk_start();
	struct attempt try;
	int other = socket(AF_INET, SOCK_STREAM, 0);

	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	cr_assert(attempt_begin_request(&try, talk.host, 0, 0));
	cr_expect(attempt_is_there(&try));
	cr_assert_eq(dup2(other, talk.host), talk.host);
	cr_expect_not(attempt_is_there(&try));
}

/* One that writes by another number than it reads by. */
Test(http_reply, is_known_to_other_numbers_of_the_socket)
{
	struct talk talk = talk_start(), twin = talk;

	twin.host = dup(talk.host);
	asks(&talk, ASK); /* takes the cookie */
	replies(&talk, FINE, 64);
	socket_duplicated(talk.host, twin.host);
	twin.entry = socket_find(twin.host);
	cr_assert_not_null(twin.entry);
	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	cr_expect(twin.entry->traits & TRAIT_REPLY_FAILED);
	cr_expect(asks(&twin, ASK));
}

/* New work on a connection that lives, which an open breaker throttles, replaces no lost one:
 * there is no address to park it for. */
Test(http_reply, makes_no_reconnect_of_a_request)
{
	struct policy *policy = (struct policy *)&config_current()->policies[0];
	struct talk talk = talk_start();
	int64_t now = monotonic();
	struct attempt try;

	policy->breaker.on = 1;
	policy->breaker.open = 3600 * NS_PER_S;
	policy->reconnect_spread = 3600 * NS_PER_S;
	policy->bounds_first = 1;
	policy->plain = 0;
	asks(&talk, ASK);
	replies(&talk, FINE, 64);
	fcntl(talk.host, F_SETFL, O_NONBLOCK);
	for (int i = 0; i <= SPREAD_MANY; i++)
		spread_lost(&talk.destination->spread, policy->reconnect_spread, now);
	cr_assert_gt(atomic_load(&talk.destination->spread.left), 0);
	atomic_store(&talk.destination->budget.breaker.state,
	             (now + 1800 * NS_PER_S) << 2 | 1); /* open */
	cr_assert(attempt_begin_request(&try, talk.host, 5, 0));
	cr_expect_not(try.trial.retry);
	cr_expect_not(pace(&try));
	cr_expect_eq(try.told, 0, "the host is to think that it went");
	cr_expect_eq(talk.entry->state, SOCKET_CUT);
}

/* Which rule says what this request is. It does not go. */
static const char *why(const struct talk *talk, const char *text)
{
	uint32_t fingerprint = traffic_look(talk->host, text, strlen(text));
	struct attempt try;

	if (!attempt_begin_request(&try, talk->host, fingerprint, 0))
		return "none";
	attempt_unanswered(&try, false, monotonic());
	return try.rule->name;
}

/* One request was answered; another failed twice: fingerprints are taken from the first failure on.
 */
static void fail_beside_an_answer(const struct talk *talk)
{
	asks(talk, ASK);
	replies(talk, FINE, 64);
	for (int i = 0; i < 2; i++) {
		asks(talk, OTHER);
		replies(talk, BUSY, 64);
	}
}

/* To refuse it would end its connection. */
Test(http_reply, a_repeat_is_not_worth_a_connection_where_most_is_answered)
{
	struct talk talk = talk_start();
	struct allowance *allowance = &talk.destination->budget.allowance;

	fail_beside_an_answer(&talk);
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "two failures, and nothing since");
	allowance_answered(allowance, monotonic());
	cr_expect_str_eq(why(&talk, OTHER), "kept");
	talk.destination->budget.barred = 1;
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "no failure is to be retried");
	talk.destination->budget.barred = 0;
	budget_retry_after(&(struct account) { .budget = &talk.destination->budget,
	                                       .policy = &config_current()->policies[0] },
	                   NS_PER_S, monotonic());
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "the server asks for a pause");
}

/* A long poll that ends by a status of failure when there is nothing: its server paces it. */
Test(http_reply, who_waits_a_second_for_each_failure_keeps_the_connection)
{
	struct talk talk = talk_start();

	fail_beside_an_answer(&talk);
	talk.destination->budget.allowance.answered_at = monotonic() - 3 * NS_PER_S;
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "failures come at once");
	talk.destination->failing_time = 3 * NS_PER_S / 2;
	cr_expect_str_eq(why(&talk, OTHER), "kept");
	talk.destination->budget.allowance.answered_at = monotonic() - 20 * NS_PER_S;
	cr_expect_str_eq(why(&talk, OTHER), "same-request", "nothing is answered any more");
}

/* One that always fails is left after fifteen failures; that we refused it says nothing of it. */
Test(http_reply, what_always_fails_is_worth_its_connection_no_more)
{
	struct talk talk = talk_start();
	struct allowance *allowance = &talk.destination->budget.allowance;

	fail_beside_an_answer(&talk);
	allowance_answered(allowance, monotonic());
	for (int i = 0; i < 20; i++)
		cr_expect_str_eq(why(&talk, OTHER), "kept", "refused %d times", i);
	for (int i = 0; i < 15; i++)
		tries_ended(talk.entry->slot, false);
	cr_expect_str_eq(why(&talk, OTHER), "same-request");
}

/* A limiter tells each when to come again; who has waited so long is no storm. */
Test(http_reply, whose_time_has_come_is_invited)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, BUSY, 64);
	asks(&talk, ASK);
	replies(&talk, LATER, 64);
	cr_expect_str_eq(why(&talk, ASK), "same-request");
	talk.destination->budget.asked = NS_PER_MS;
	talk.destination->budget.not_before = monotonic();
	usleep(2000);
	cr_expect_str_eq(why(&talk, ASK), "invited");
}
