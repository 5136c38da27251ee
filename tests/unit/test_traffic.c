/* SPDX-License-Identifier: MIT */
/* What reads and writes tell while a conversation goes on. */
#include "track_fixture.h"

TestSuite(traffic, .init = start_shim);

Test(traffic, an_answer_is_a_success)
{
	struct talk talk = talk_start();

	EXPECT_NOTHING(talk.destination);
	one_exchange(&talk);
	cr_expect_eq(talk.entry->state, SOCKET_ANSWERED);
	EXPECT_SUCCESS(talk.destination);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(traffic, a_greeting_is_a_success)
{
	struct talk talk = talk_start();

	peer_says(&talk, "220 hello");
	cr_assert_eq(host_recv(talk.host, 9, 0), 9);
	EXPECT_SUCCESS(talk.destination);
}

Test(traffic, a_reply_in_pieces_is_one_success)
{
	struct talk talk = talk_start();

	talk.destination->budget.streak = 2;
	host_send(talk.host, "ask");
	for (int i = 0; i < 5; i++) {
		peer_says(&talk, "say");
		cr_assert_eq(host_recv(talk.host, 3, 0), 3);
		talk.destination->budget.streak = 2;
	}
	EXPECT_SUCCESS(talk.destination);
}

/* While the budget has something to gain every exchange counts. */
Test(traffic, each_turn_of_a_kept_connection_counts)
{
	struct talk talk = talk_start();

	for (int i = 1; i <= 5; i++) {
		talk.destination->budget.streak = 3;
		one_exchange(&talk);
		cr_expect_eq(talk.destination->budget.streak, 0);
		EXPECT_COUNTED(talk.destination, i, 0, FAILURE_NONE);
	}
}

/* Exchanges that change nothing take the short way; a failure elsewhere ends that. */
Test(traffic, a_connection_that_works_notices_a_failure_elsewhere)
{
	struct server server = serve(8);
	struct talk working = talk_to(&server), broken;

	for (int i = 0; i < 5; i++)
		one_exchange(&working);
	EXPECT_SUCCESS(working.destination);
	broken = talk_to(&server);
	host_asks(&broken, "ask");
	host_is_left(&broken);
	cr_assert_eq(working.destination->budget.streak, 1);
	one_exchange(&working);
	cr_expect_eq(working.destination->budget.streak, 0);
	EXPECT_COUNTED(working.destination, 2, 1, FAILURE_DROPPED);
}

/* A pool's connection that the peer closed meanwhile: the request meets a closed connection. */
/* The receive timeout of the socket, in ms. */
static void receive_timeout(int fd, int ms)
{
	struct timeval timeout = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	cr_assert(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0);
}

Test(traffic, a_receive_timeout_is_a_timeout)
{
	struct talk talk = talk_start();

	receive_timeout(talk.host, 1100);
	host_send(talk.host, "ask");
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	cr_expect_eq(errno, EAGAIN);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
}

/* The program goes on waiting: its timeout is a tick, and only the first of all is taken for more.
 */
Test(traffic, a_receive_timeout_of_a_host_that_waits_on_is_a_tick)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server), next;

	receive_timeout(talk.host, 1100);
	host_send(talk.host, "ask");
	for (int i = 0; i < 2; i++)
		cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
	next = talk_to(&server);
	receive_timeout(next.host, 1100);
	host_send(next.host, "ask");
	cr_assert_eq(host_recv(next.host, 8, 0), -1);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_TIMEOUT], 1);
	host_close(next.host);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_TIMEOUT], 2);
}

Test(traffic, an_answer_after_a_receive_timeout_tells_of_a_tick)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server), next;

	receive_timeout(talk.host, 1100);
	host_send(talk.host, "ask");
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
	peer_says(&talk, "well");
	cr_assert_eq(host_recv(talk.host, 8, 0), 4);
	next = talk_to(&server);
	receive_timeout(next.host, 1100);
	host_send(next.host, "ask");
	cr_assert_eq(host_recv(next.host, 8, 0), -1);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_TIMEOUT], 1);
}

/* Nor is it told twice, where the connection had served before. */
Test(traffic, a_receive_timeout_on_a_kept_connection_is_one_timeout)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	receive_timeout(talk.host, 1100);
	host_send(talk.host, "ask");
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	host_close(talk.host);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_TIMEOUT], 1);
}

/* dup2 or close gave the number away while a call blocked on the connection that had it. */
Test(traffic, the_end_of_another_connection_is_none_of_this_one)
{
	struct talk talk = talk_start();
	char byte[8];

	host_send(talk.host, "ask");
	cr_assert_eq(traffic_received(talk.host, 0, sizeof(byte), 0, byte), 0);
	errno = ECONNRESET;
	cr_assert_eq(traffic_received(talk.host, -1, sizeof(byte), 0, byte), -1);
	errno = EPIPE;
	cr_assert_eq(traffic_sent(talk.host, -1, 0, 0), -1);
	EXPECT_NOTHING(talk.destination);
	cr_expect_eq(talk.entry->state, SOCKET_ASKED);
	peer_hears(&talk);
	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, sizeof(byte), 0), 0);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* Many clients tick: they look after something else every few milliseconds. */
Test(traffic, a_short_receive_timeout_is_nothing_and_the_answer_counts)
{
	struct talk talk = talk_start();

	talk.destination->budget.streak = 1;
	receive_timeout(talk.host, 20);
	host_send(talk.host, "ask");
	for (int i = 0; i < 3; i++)
		cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	cr_assert_eq(talk.destination->tally.failures[FAILURE_TIMEOUT], 0);
	peer_hears(&talk);
	peer_says(&talk, "well");
	cr_assert_eq(host_recv(talk.host, 8, 0), 4);
	cr_assert_eq(talk.destination->budget.streak, 0);
}

Test(traffic, a_short_receive_timeout_far_longer_than_answers_take_is_a_timeout)
{
	struct talk talk = talk_start();

	talk.destination->answer_time = NS_PER_MS;
	receive_timeout(talk.host, 150);
	host_send(talk.host, "ask");
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
}

Test(traffic, a_receive_timeout_before_a_greeting_is_a_timeout)
{
	struct talk talk = talk_start();

	receive_timeout(talk.host, 1100);
	cr_assert_eq(host_recv(talk.host, 8, 0), -1);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
}

/* An event loop's way: nothing there yet, and then it comes. */
static void expect_nothing_yet(bool nonblocking, int flags)
{
	struct talk talk = talk_start();

	if (nonblocking)
		cr_assert(fcntl(talk.host, F_SETFL, O_NONBLOCK) == 0);
	host_send(talk.host, "ask");
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(host_recv(talk.host, 8, flags), -1);
		cr_expect_eq(errno, EAGAIN);
	}
	EXPECT_NOTHING(talk.destination);
	peer_says(&talk, "say");
	cr_assert_eq(host_recv(talk.host, 8, flags), 3);
	EXPECT_SUCCESS(talk.destination);
}

Test(traffic, nothing_yet_on_a_nonblocking_socket)
{
	expect_nothing_yet(true, 0);
}

Test(traffic, nothing_yet_for_a_call_that_does_not_wait)
{
	expect_nothing_yet(false, MSG_DONTWAIT);
}

Test(traffic, a_peek_tells_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	peer_says(&talk, "say");
	cr_assert_eq(host_recv(talk.host, 8, MSG_PEEK), 3);
	EXPECT_NOTHING(talk.destination);
	cr_assert_eq(host_recv(talk.host, 8, 0), 3);
	EXPECT_SUCCESS(talk.destination);
}

Test(traffic, a_peek_at_the_end_tells_nothing)
{
	struct talk talk = talk_start();

	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, 8, MSG_PEEK), 0);
	EXPECT_NOTHING(talk.destination);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(traffic, an_empty_error_queue_tells_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	cr_assert_eq(host_recv(talk.host, 8, MSG_ERRQUEUE), -1);
	EXPECT_NOTHING(talk.destination);
}

Test(traffic, a_read_of_no_length_tells_nothing)
{
	struct talk talk = talk_start();

	peer_says(&talk, "say");
	cr_assert_eq(host_recv(talk.host, 0, 0), 0);
	EXPECT_NOTHING(talk.destination);
	cr_assert_eq(host_recv(talk.host, 8, 0), 3);
	EXPECT_SUCCESS(talk.destination);
}

Test(traffic, an_interrupted_call_tells_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	errno = EINTR;
	cr_assert_eq(traffic_received(talk.host, -1, 8, 0, NULL), -1);
	cr_expect_eq(errno, EINTR);
	cr_assert_eq(traffic_sent(talk.host, -1, 0, 0), -1);
	cr_expect_eq(errno, EINTR);
	EXPECT_NOTHING(talk.destination);
}

Test(traffic, errno_and_result_are_kept)
{
	struct talk talk = talk_start();

	errno = ENOTTY;
	cr_expect_eq(traffic_sent(talk.host, 7, 0, 0), 7);
	cr_expect_eq(errno, ENOTTY);
	cr_expect_eq(traffic_received(talk.host, 9, 9, 0, NULL), 9);
	cr_expect_eq(errno, ENOTTY);
	cr_expect_eq(traffic_sent(talk.host, 1, 0, 0), 1);
	errno = ECONNRESET;
	cr_expect_eq(traffic_received(talk.host, -1, 9, 0, NULL), -1);
	cr_expect_eq(errno, ECONNRESET);
}

/* All is well: the exchange begins before the call, and is taken back if nothing went. */
Test(traffic, a_request_that_did_not_go_on_a_calm_connection_is_not_waited_for)
{
	struct talk talk = talk_start();
	struct socket_entry *entry;

	for (int i = 0; i < 200 && !traffic_begins(talk.host);
	     i++) { /* until the buckets are full */
		host_send(talk.host, "ask");
		peer_says(&talk, "say");
		cr_assert_eq(host_recv(talk.host, 8, 0), 3);
	}
	entry = socket_find(talk.host);
	cr_assert_eq(entry->state, SOCKET_ASKED);
	errno = EAGAIN;
	cr_expect_eq(traffic_went(talk.host, -1, MSG_DONTWAIT), -1);
	cr_expect_eq(errno, EAGAIN);
	cr_expect_eq(entry->state, SOCKET_ANSWERED);
	cr_expect(socket_watched(talk.host) & WATCH_WRITE);
	cr_assert(traffic_begins(talk.host));
	cr_expect_eq(traffic_went(talk.host, 3, 0), 3);
	cr_expect_eq(entry->state, SOCKET_ASKED);
	cr_expect_not(socket_watched(talk.host) & WATCH_WRITE);
}

/* Raw calls change what a number stands for, and no hook sees it. */
Test(traffic, another_socket_on_the_number_is_not_believed)
{
	struct talk old = talk_start(), other = talk_start();

	old.destination->budget.streak = 4;
	host_send(old.host, "ask");
	cr_assert_eq(dup2(other.host, old.host), old.host);
	peer_says(&other, "say");
	cr_assert_eq(host_recv(old.host, 8, 0), 3);
	cr_expect_eq(old.destination->budget.streak, 4, "no success of this destination");

	old = talk_start();
	host_send(old.host, "ask");
	cr_assert_eq(dup2(other.host, old.host), old.host);
	peer_closes(&other);
	cr_assert_eq(host_recv(old.host, 8, 0), 0);
	EXPECT_COUNTED(old.destination, 0, 0, FAILURE_NONE);
}

Test(traffic, reading_from_an_accepted_connection_is_new_work)
{
	struct talk talk = talk_start();

	socket_created(talk.peer, WATCH_SERVER);
	cr_assert_eq(send(talk.host, "work", 4, 0), 4);
	cr_assert_eq(thread_facts.asked_at, 0);
	cr_assert_eq(host_recv(talk.peer, 8, 0), 4);
	cr_assert_neq(thread_facts.asked_at, 0);
}

Test(traffic, a_one_way_connection_counts_once_by_living)
{
	struct talk talk = talk_start();

	talk.destination->budget.streak = 2;
	host_send(talk.host, "log");
	until_acknowledged(talk.host);
	host_send(talk.host, "log");
	EXPECT_NOTHING(talk.destination);
	cr_expect_eq(talk.destination->budget.streak, 2);
	back_date(&talk, 2001);
	until_acknowledged(talk.host);
	host_send(talk.host, "log");
	EXPECT_SUCCESS(talk.destination);
	cr_expect_eq(talk.destination->budget.streak, 0);
	talk.destination->budget.streak = 2;
	host_send(talk.host, "log");
	EXPECT_SUCCESS(talk.destination);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

/* Nothing about a reset is in order. */
