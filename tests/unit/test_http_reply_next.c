/* SPDX-License-Identifier: MIT */
/* What an HTTP/1 reply makes of the request after it. */
#include "http_reply_fixture.h"

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

Test(http_reply, after_it_all_is_quiet_again)
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
 * the next exchange, and says nothing of that. */
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
		demand_request_read(talk.host, false);
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
