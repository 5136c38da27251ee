/* SPDX-License-Identifier: MIT */
/* What reads and writes tell when a conversation ends: dropped, reset, or in order. */
#include "track_fixture.h"

TestSuite(traffic_end, .init = start_shim);

Test(traffic_end, end_before_any_byte_is_dropped)
{
	struct talk talk = talk_start();

	host_is_left(&talk);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
	cr_expect_eq(talk.destination->budget.streak, 1);
	cr_expect_eq(talk.destination->last_failure, FAILURE_DROPPED);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0, "again");
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(traffic_end, end_instead_of_an_answer_is_dropped)
{
	struct talk talk = talk_start();

	host_asks(&talk, "ask");
	host_is_left(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(traffic_end, end_after_an_answer_is_nothing)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	host_is_left(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_eq(talk.destination->budget.streak, 0);
}

Test(traffic_end, reset_before_any_byte)
{
	struct talk talk = talk_start();

	peer_resets(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	cr_expect_eq(errno, ECONNRESET);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_RESET);
}

Test(traffic_end, reset_instead_of_an_answer)
{
	struct talk talk = talk_start();

	host_asks(&talk, "ask");
	peer_resets(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_RESET);
}

Test(traffic_end, a_write_that_meets_a_reset)
{
	struct talk talk = talk_start();

	host_send(talk.host, "one way");
	peer_resets(&talk);
	cr_assert_eq(host_send(talk.host, "more"), -1);
	cr_expect(errno == ECONNRESET || errno == EPIPE);
	cr_assert_eq(host_send(talk.host, "more"), -1);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_RESET);
}

Test(traffic_end, an_idle_connection_that_was_closed_is_nobodys_failure)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	peer_closes(&talk);
	cr_assert_eq(host_send(talk.host, "ask"), 3);
	until_state(talk.host, 7);
	cr_assert(host_recv(talk.host, 8, 0) <= 0);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
	cr_expect_eq(talk.destination->budget.streak, 0);
}

Test(traffic_end, an_idle_connection_that_was_reset_is_nobodys_failure)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	peer_resets(&talk);
	cr_assert_eq(host_send(talk.host, "ask"), -1);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(traffic_end, a_kept_connection_that_ends_with_the_request_taken_is_dropped)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	cr_assert_eq(host_send(talk.host, "ask"), 3);
	peer_hears(&talk);
	host_is_left(&talk);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_DROPPED);
	cr_expect_eq(talk.destination->budget.streak, 1);
}

Test(traffic_end, a_kept_connection_that_is_reset_with_the_request_taken)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	cr_assert_eq(host_send(talk.host, "ask"), 3);
	peer_hears(&talk);
	peer_resets(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_RESET);
}

Test(traffic_end, a_one_way_connection_that_was_ended_in_order)
{
	struct talk talk = talk_start();

	host_asks(&talk, "log");
	host_shutdown(talk.host, SHUT_WR);
	close(talk.peer);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(traffic_end, an_answer_after_the_host_ended_its_half)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	host_shutdown(talk.host, SHUT_WR);
	peer_says(&talk, "say");
	cr_assert_eq(host_recv(talk.host, 8, 0), 3);
	EXPECT_SUCCESS(talk.destination);
}

Test(traffic_end, a_reset_after_the_host_ended_its_half)
{
	struct talk talk = talk_start();

	host_asks(&talk, "ask");
	host_shutdown(talk.host, SHUT_WR);
	peer_resets(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	cr_expect_eq(errno, ECONNRESET);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_RESET);
}
