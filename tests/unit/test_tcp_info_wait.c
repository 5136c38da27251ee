/* SPDX-License-Identifier: MIT */
/* TCP_INFO of who waited in vain, and of kept connections. */
#include "tcp_info_fixture.h"

/* A destination that answers within milliseconds. */
static struct talk talk_to_the_quick(void)
{
	struct server server = serve(8);
	struct talk quick = talk_to(&server);

	one_exchange(&quick);
	cr_assert(quick.destination->answer_time > 0);
	quick.destination->answer_time = NS_PER_MS; /* however slow this machine is */
	host_close(quick.host);
	return talk_to(&server);
}

Test(tcp_info, a_request_without_an_answer_for_a_second_is_a_timeout)
{
	struct talk talk = talk_to_the_quick();

	asks_in_vain(&talk);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_TIMEOUT);
}

/* A program that waits for half a second, or one that changes its mind. */
static void waits_shortly(int64_t answers_take)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);

	one_exchange(&talk);
	talk.destination->answer_time = answers_take;
	for (int i = 0; i < 3; i++) {
		EXPECT_COUNTED(talk.destination, 1, 0, FAILURE_TIMEOUT);
		talk = talk_to(&server);
		host_send(talk.host, "ask");
		until_acknowledged(talk.host);
		usleep(150000);
		host_close(talk.host);
	}
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_TIMEOUT);
}

Test(tcp_info, a_shorter_wait_in_vain_is_a_timeout_the_third_time_running)
{
	waits_shortly(NS_PER_MS);
}

Test(tcp_info, so_is_one_that_is_twice_as_long_as_answers_take)
{
	waits_shortly(60 * NS_PER_MS);
}

/* Nobody has ever been answered there: a sender that talks one way, and rests. */
Test(tcp_info, a_quiet_second_where_nothing_was_ever_answered_is_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "log");
	until_acknowledged(talk.host);
	usleep(1100000);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

/* Four connections to where nobody has ever been answered, each given up after a tenth of a second
 * and a half. */
static int64_t timeouts_of(const char *request)
{
	struct server server = serve(8);
	struct destination *destination = NULL;

	for (int i = 0; i < 4; i++) {
		struct talk talk = talk_to(&server);

		destination = talk.destination;
		host_send(talk.host, request);
		until_acknowledged(talk.host);
		usleep(150000);
		host_close(talk.host);
	}
	return destination->tally.failures[FAILURE_TIMEOUT];
}

Test(tcp_info, what_wants_an_answer_that_nobody_ever_got_times_out_the_third_time_running)
{
	cr_expect_eq(timeouts_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 2);
}

/* Where a success would change nothing a close is not looked into, but for this. */
Test(tcp_info, so_it_does_where_successes_earn_nothing)
{
	struct config *config = (struct config *)config_current();
	int64_t earn = config->policies[0].bucket.earn, of_all = config->process.earn;

	config->policies[0].bucket.earn = config->process.earn = 0;
	cr_expect_eq(timeouts_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 2);
	config->policies[0].bucket.earn = earn;
	config->process.earn = of_all;
}

Test(tcp_info, what_may_want_none_does_not)
{
	cr_expect_eq(timeouts_of("deploys.legacyd 1 1700000000\n"), 0);
}

/* A long poll, whose client has had enough. */
Test(tcp_info, a_wait_as_long_as_answers_take_is_nothing)
{
	struct talk talk = talk_to_the_quick();

	talk.destination->answer_time = 500 * NS_PER_MS;
	asks_in_vain(&talk);
	EXPECT_SUCCESS(talk.destination);
}

Test(tcp_info, a_wait_on_a_kept_connection_as_long_as_answers_take_is_nothing)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	usleep(20000); /* the kernel's own times are in ms */
	talk.destination->answer_time = 500 * NS_PER_MS;
	asks_in_vain(&talk);
	EXPECT_SUCCESS(talk.destination);
}

Test(tcp_info, a_request_on_a_kept_connection_without_an_answer_for_a_second_is_a_timeout)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	usleep(20000); /* the kernel's own times are in ms */
	talk.destination->answer_time = NS_PER_MS;
	asks_in_vain(&talk);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_TIMEOUT);
}

Test(tcp_info, an_idle_kept_connection_is_nothing)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	peer_closes(&talk);
	back_date(&talk, 10000);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

/* What was sent last on a kept connection, and heard by the peer. */
static struct talk last_words(const char *words)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	usleep(20000); /* the kernel's own times are in ms */
	host_asks(&talk, words);
	usleep(20000);
	return talk;
}

/* The program does not wait for an answer, and never reads that the peer has hung up. */
Test(tcp_info, a_close_notify_on_a_kept_connection_is_nothing)
{
	struct talk talk = last_words("QUIT");

	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

/* The same, and closed a while later: nobody waited. */
Test(tcp_info, a_close_notify_long_ago_on_a_kept_connection_is_nothing)
{
	struct talk talk = last_words("QUIT");

	peer_closes(&talk);
	usleep(1100000);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

/* Nor what the program ends in both directions by itself. */
Test(tcp_info, a_close_notify_and_a_shutdown_of_both_is_nothing)
{
	struct talk talk = last_words("QUIT");

	peer_closes(&talk);
	host_shutdown(talk.host, SHUT_RDWR);
	EXPECT_SUCCESS(talk.destination);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

/* A program that has read the end asked for more. */
Test(tcp_info, a_kept_connection_that_dropped_a_request_before_the_hosts_eyes)
{
	struct talk talk = last_words("ask");

	host_is_left(&talk);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_DROPPED);
}

Test(tcp_info, a_reset_unseen_on_a_kept_connection)
{
	struct talk talk = last_words("ask");

	peer_resets(&talk);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_RESET);
}

/* A peer that is told the program is going may go as it likes. */
Test(tcp_info, a_reset_after_the_host_ended_a_kept_connection_is_nothing)
{
	struct talk talk = last_words("QUIT");

	host_shutdown(talk.host, SHUT_RDWR);
	peer_resets(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tcp_info, a_reset_after_the_host_ended_its_half_of_a_kept_connection_is_nothing)
{
	struct talk talk = last_words("QUIT");

	host_shutdown(talk.host, SHUT_WR);
	peer_resets(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

/* The request met a closed connection, and the program does not read. */
Test(tcp_info, an_idle_kept_connection_that_was_closed_before_the_request_is_nothing)
{
	struct talk talk = talk_start();

	one_exchange(&talk);
	usleep(20000);
	peer_closes(&talk);
	cr_assert_eq(host_send(talk.host, "ask"), 3);
	until_state(talk.host, 7);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tcp_info, a_one_way_connection_that_both_ended_in_order_is_nothing)
{
	struct talk talk = talk_start();

	host_asks(&talk, "log");
	peer_closes(&talk);
	attempt_hung_up(talk.host, SHUT_WR); /* as if its FIN were still on the way */
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(tcp_info, a_spare_connection_is_nothing)
{
	struct talk talk = talk_start();

	back_date(&talk, 10000);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(tcp_info, a_greeting_waited_for_in_vain_is_a_timeout)
{
	struct talk talk = talk_to_the_quick();

	cr_assert_eq(host_recv(talk.host, 8, MSG_DONTWAIT), -1);
	back_date(&talk, 1001);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_TIMEOUT);
}

Test(tcp_info, a_peek_for_a_greeting_that_never_came_there_is_nothing)
{
	struct talk talk = talk_start();

	cr_assert_eq(host_recv(talk.host, 8, MSG_DONTWAIT), -1);
	back_date(&talk, 1001);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}
