/* SPDX-License-Identifier: MIT */
/* What goes on inside a TLS session, up to its end. */
#include "tls_fixture.h"

static void start_tls(void)
{
	start_shim();
	policy_of_all()->tls = 1;
	policy_of_all()->plain = 0;
	session_prepare();
}

TestSuite(tls_session, .init = start_tls);

Test(tls_session, whose_handshake_is_no_answer)
{
	struct talk talk = talk_inside();

	talk.destination->budget.streak = 2;
	EXPECT_NOTHING(talk.destination);
	cr_expect_eq(talk.entry->state, SOCKET_OPEN);
	cr_expect(talk.entry->traits & TRAIT_CARRIER);
}

Test(tls_session, in_which_a_reply_is_one)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	cr_expect_eq(talk.entry->state, SOCKET_ASKED);
	reply_inside(&talk, first, FINE);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
}

Test(tls_session, in_which_a_status_is_a_failure_and_the_next_request_a_retry)
{
	struct talk talk = talk_inside();
	struct attempt try;

	ask_inside(&talk, first);
	reply_inside(&talk, first, BUSY);
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
	cr_expect_gt(talk.destination->budget.not_before, monotonic() + 5 * NS_PER_S);
	cr_assert(attempt_begin_request(&try, talk.host,
	                                tls_traffic_look(talk.host, ASK, strlen(ASK)), 0));
	cr_expect(try.trial.retry);
	attempt_start_request(&try);
	ask_inside(&talk, first);
	reply_inside(&talk, first, BUSY);
	cr_expect_eq(talk.destination->budget.streak, 2);
}

Test(tls_session, in_which_a_status_comes_in_pieces)
{
	struct talk talk = talk_inside();

	ask_inside(&talk, first);
	for (const char *at = BUSY; *at; at++)
		tls_traffic_received(talk.host, at, 1);
	EXPECT_FAILED(talk.destination, FAILURE_STATUS);
	cr_expect_gt(talk.destination->budget.not_before, monotonic() + 5 * NS_PER_S);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
}

Test(tls_session, in_which_another_protocol_greets)
{
	struct talk talk = talk_inside();

	reply_inside(&talk, first, "* OK IMAP4rev1\r\n");
	EXPECT_SUCCESS(talk.destination);
	ask_inside(&talk, first);
	talk.destination->budget.streak = 2;
	reply_inside(&talk, first, "a OK\r\n");
	cr_expect_eq(talk.destination->budget.streak, 0);
}

Test(tls_session, that_nobody_wants_to_look_into)
{
	struct talk talk = talk_start();

	policy_of_all()->tls = 0;
	shake_hands(&talk, first);
	cr_expect_eq(session_fd(first), -1);
	EXPECT_SUCCESS(talk.destination);
}

/* A library that the hooks do not see, as Java's: nobody is in a call of it. */
Test(tls_session, that_nobody_sees)
{
	struct talk talk = talk_start();

	shake_hands(&talk, NULL);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_not(talk.entry->traits & TRAIT_CARRIER);
}

Test(tls_session, that_ends_inside_its_handshake)
{
	struct talk talk = talk_start();
	const void *outer = session_enter(first);

	carry(&talk, HELLO);
	peer_hears(&talk);
	peer_closes(&talk);
	cr_expect_eq(host_recv(talk.host, 8, 0), 0);
	session_leave(outer);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* The peer's last word was an alert, and the program gave up without another read. */
Test(tls_session, that_its_peer_refuses)
{
	struct talk talk = talk_start();

	shake_hands(&talk, first);
	tls_traffic_close_notify(talk.host); /* of which the library sends nothing yet */
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* Where answers come soon: else a wait that the program ends says nothing. */
Test(tls_session, whose_handshake_hangs)
{
	struct talk talk = talk_start();

	talk.destination->answer_time = NS_PER_MS;
	shake_hands(&talk, first);
	usleep(1100000);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
}
