/* SPDX-License-Identifier: MIT */
/* TCP_INFO, asked when a number is given up: what no hook saw. */
#include "tcp_info_fixture.h"

TestSuite(tcp_info, .init = start_shim);

Test(tcp_info, bytes_read_by_a_raw_call_are_a_success)
{
	struct talk talk = talk_start();
	char data[8];

	talk.destination->budget.streak = 3;
	host_send(talk.host, "ask");
	peer_says(&talk, "say");
	cr_assert_eq(syscall(SYS_read, talk.host, data, sizeof(data)), 3);
	EXPECT_NOTHING(talk.destination);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_eq(talk.destination->budget.streak, 0);
}

/* Through stdio, of a server that closes after its reply: the end counts as a byte. */
Test(tcp_info, bytes_and_the_end_unseen_are_a_success)
{
	struct talk talk = talk_start();

	host_asks(&talk, "ask");
	peer_says(&talk, "s");
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tcp_info, the_end_unseen_is_dropped)
{
	struct talk talk = talk_start();

	host_asks(&talk, "ask");
	peer_closes(&talk);
	EXPECT_NOTHING(talk.destination);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* Who only asks whether somebody listens, or wakes whoever does, must hear the same each time. */
Test(tcp_info, the_end_unseen_of_a_silent_connection_says_nothing_unless_it_comes_often)
{
	struct server server = serve(16);
	struct talk talk;

	for (int i = 0; i < 9; i++) {
		talk = talk_to(&server);
		peer_closes(&talk);
		host_close(talk.host);
	}
	EXPECT_NOTHING(talk.destination);
	/* The second may have turned since the first of them. */
	for (int i = 0; i < 19 && talk.destination->budget.streak == 0; i++) {
		talk = talk_to(&server);
		peer_closes(&talk);
		host_close(talk.host);
	}
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* An event loop that reconnects as soon as poll says that the peer has gone. */
Test(tcp_info, the_end_of_a_silent_connection_that_does_not_block_is_seen)
{
	struct server server = serve(16);
	struct talk talk = talk_to(&server);

	cr_assert(fcntl(talk.host, F_SETFL, O_NONBLOCK) == 0);
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(tcp_info, the_end_unseen_of_a_silent_connection_is_dropped_after_a_failure)
{
	struct server server = serve(16);
	struct talk talk = talk_to(&server);

	host_send(talk.host, "ask");
	peer_resets(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_RESET);
	talk = talk_to(&server);
	peer_closes(&talk);
	host_close(talk.host);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_DROPPED], 1);
}

Test(tcp_info, the_end_of_a_connection_that_the_host_tried_to_read_is_dropped)
{
	struct talk talk = talk_start();

	cr_assert_eq(host_recv(talk.host, 1, MSG_DONTWAIT), -1);
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(tcp_info, a_reset_unseen)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	peer_resets(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_RESET);
}

Test(tcp_info, a_reset_unseen_after_the_host_ended_its_half)
{
	struct talk talk = talk_start();

	host_asks(&talk, "ask");
	host_shutdown(talk.host, SHUT_WR);
	peer_resets(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_RESET);
}

Test(tcp_info, an_answer_that_nobody_waited_for_is_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(tcp_info, a_one_way_life_is_a_success)
{
	struct talk talk = talk_start();

	talk.destination->budget.streak = 3;
	host_send(talk.host, "log");
	until_acknowledged(talk.host);
	back_date(&talk, 2001);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_eq(talk.destination->budget.streak, 0);
}

Test(tcp_info, a_short_one_way_life_is_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "log");
	until_acknowledged(talk.host);
	back_date(&talk, 1500);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}
