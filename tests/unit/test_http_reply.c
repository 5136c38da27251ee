/* SPDX-License-Identifier: MIT */
/* How HTTP/1 replies are read, and what they do to a connection and its destination. */
#include "http_reply_fixture.h"

TestSuite(http_reply, .init = start_shim);

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
	host_is_left(&talk);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* Within the head of a failure nothing more is counted. */
Test(http_reply, that_breaks_off_in_its_head_counts_once)
{
	struct talk talk = talk_start();

	asks(&talk, ASK);
	replies(&talk, "HTTP/1.1 503 Busy\r\nRetry-", 64);
	cr_expect_eq(talk.entry->state, SOCKET_HEAD);
	host_is_left(&talk);
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
