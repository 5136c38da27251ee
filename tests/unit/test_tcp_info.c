/* SPDX-License-Identifier: MIT */
/* TCP_INFO, asked when a number is given up: what no hook saw. */
#include "track_fixture.h"

#include "dest/answer_time.h"
#include "conn/settle.h"

TestSuite(tcp_info, .init = start_shim);

/* The program asks, waits for a second, and gives up. */
static void asks_in_vain(const struct talk *talk)
{
	host_send(talk->host, "ask");
	until_acknowledged(talk->host);
	usleep(1100000);
	host_close(talk->host);
}

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

	host_send(talk.host, "ask");
	peer_hears(&talk);
	peer_says(&talk, "s");
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(tcp_info, the_end_unseen_is_dropped)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	peer_hears(&talk);
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

	host_send(talk.host, "ask");
	peer_hears(&talk);
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

/* A destination that answers within milliseconds. */
static struct talk talk_to_the_quick(void)
{
	struct server server = serve(8);
	struct talk quick = talk_to(&server);

	one_turn(&quick);
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

/* A program with half a second of patience, or one that changes its mind. */
Test(tcp_info, a_shorter_wait_in_vain_is_a_timeout_the_third_time_running)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);

	one_turn(&talk);
	talk.destination->answer_time = NS_PER_MS;
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

	one_turn(&talk);
	usleep(20000); /* the kernel's own times are in ms */
	talk.destination->answer_time = 500 * NS_PER_MS;
	asks_in_vain(&talk);
	EXPECT_SUCCESS(talk.destination);
}

Test(tcp_info, a_request_on_a_kept_connection_without_an_answer_for_a_second_is_a_timeout)
{
	struct talk talk = talk_start();

	one_turn(&talk);
	usleep(20000); /* the kernel's own times are in ms */
	talk.destination->answer_time = NS_PER_MS;
	asks_in_vain(&talk);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_TIMEOUT);
}

Test(tcp_info, an_idle_kept_connection_is_nothing)
{
	struct talk talk = talk_start();

	one_turn(&talk);
	peer_closes(&talk);
	back_date(&talk, 10000);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

/* What was sent last on a kept connection, and heard by the peer. */
static struct talk last_words(const char *words)
{
	struct talk talk = talk_start();

	one_turn(&talk);
	usleep(20000); /* the kernel's own times are in ms */
	host_send(talk.host, words);
	peer_hears(&talk);
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

	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
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

	one_turn(&talk);
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

	host_send(talk.host, "log");
	peer_hears(&talk);
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

/* How soon answers come is learned from the first on each connection. */
Test(tcp_info, learns_how_soon_answers_come)
{
	struct talk talk = talk_start();
	int64_t first;

	one_turn(&talk);
	first = talk.destination->answer_time;
	cr_expect(first > 0 && first < 5 * NS_PER_S, "%ld", (long)first);
	answer_time_answered(talk.destination, first + 800 * NS_PER_MS);
	cr_expect(talk.destination->answer_time > first + 50 * NS_PER_MS &&
	          talk.destination->answer_time < first + 200 * NS_PER_MS);
	cr_expect_not(answer_time_is_timeout(talk.destination, 999 * NS_PER_MS, 0));
	cr_expect(answer_time_is_timeout(talk.destination, 100 * NS_PER_S, 0));
	talk.destination->answer_time = INT64_MIN; /* corrupted */
	cr_expect_not(answer_time_is_timeout(talk.destination, 100 * NS_PER_S, 0));
	answer_time_answered(talk.destination, NS_PER_MS);
	cr_expect_eq(talk.destination->answer_time, NS_PER_MS);
}

/* A program that gives up early each time means it; one that does so now and then has changed its
 * mind. */
Test(tcp_info, connects_given_up_early_add_up_only_within_a_minute_of_each_other)
{
	struct destination destination = { 0 };

	for (int64_t hour = 1; hour < 10; hour++)
		cr_expect_not(answer_time_gave_up(&destination, hour * 3600 * NS_PER_S));
	cr_expect_not(answer_time_gave_up(&destination, (9 * 3600 + 60) * NS_PER_S));
	cr_expect(answer_time_gave_up(&destination, (9 * 3600 + 120) * NS_PER_S));
	answer_time_answered(&destination, -1);
	cr_expect_not(answer_time_gave_up(&destination, (9 * 3600 + 121) * NS_PER_S));
	destination.gave_up = INT64_MIN; /* corrupted */
	cr_expect_not(answer_time_gave_up(&destination, 10 * 3600 * NS_PER_S));
	destination.gave_up = INT64_MAX;
	cr_expect_not(answer_time_gave_up(&destination, 10 * 3600 * NS_PER_S));
}

/* The success of a one-way life is taken back where the peer ends it without a word. */
static void lives_and_is_dropped(bool seen)
{
	struct talk talk = talk_start();

	talk.destination->budget.streak = 3;
	host_send(talk.host, "log");
	until_acknowledged(talk.host);
	back_date(&talk, 2001);
	host_send(talk.host, "log");
	EXPECT_SUCCESS(talk.destination);
	peer_hears(&talk);
	peer_closes(&talk);
	if (seen)
		cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_DROPPED);
}

Test(tcp_info, a_one_way_life_that_the_peer_ends_is_dropped)
{
	lives_and_is_dropped(true);
}

Test(tcp_info, a_one_way_life_that_the_peer_ends_unseen_is_dropped)
{
	lives_and_is_dropped(false);
}

Test(tcp_info, hanging_up_asks_too)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	peer_hears(&talk);
	peer_closes(&talk);
	host_shutdown(talk.host, SHUT_RDWR);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(tcp_info, what_the_host_ended_itself_is_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	host_shutdown(talk.host, SHUT_RDWR);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

static void *hang_up_when_cancelled(void *fd)
{
	pthread_cancel(pthread_self());
	attempt_hung_up(*(int *)fd, SHUT_RDWR);
	return fd;
}

/* shutdown and dup2 are no cancellation points, so a program does not expect to end there. */
Test(tcp_info, exchange_begin_is_no_cancellation_point)
{
	struct talk talk = talk_start();
	pthread_t thread;
	void *result;

	one_turn(&talk); /* nothing to gain any more */
	host_send(talk.host, "ask");
	until_acknowledged(talk.host);
	cr_assert_eq(pthread_create(&thread, NULL, hang_up_when_cancelled, &talk.host), 0);
	pthread_join(thread, &result);
	cr_expect_eq(result, &talk.host, "cancelled inside");
}

Test(tcp_info, the_last_of_two_numbers_tells)
{
	struct talk talk = talk_start();
	int second = dup(talk.host);

	socket_duplicated(talk.host, second);
	host_send(talk.host, "ask");
	peer_hears(&talk);
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
	host_close(second);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

/* What one number has told the other does not tell again. */
Test(tcp_info, of_two_numbers_one_tells)
{
	struct talk talk = talk_start();
	int second = dup(talk.host);

	socket_duplicated(talk.host, second);
	host_send(talk.host, "ask");
	peer_hears(&talk);
	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
	host_close(talk.host);
	host_close(second);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(tcp_info, another_socket_on_the_number_is_not_judged)
{
	struct talk old = talk_start(), other = talk_start();

	host_send(old.host, "ask");
	peer_closes(&other);
	cr_assert_eq(dup2(other.host, old.host), old.host);
	host_close(old.host);
	EXPECT_NOTHING(old.destination);
}

/* Who asks whether somebody is there, or says a line and goes, is never answered by bytes. */
static void is_back(enum failure failure, const char *words, bool waits, bool success)
{
	struct talk talk = talk_start();

	talk.destination->budget.streak = 3;
	talk.destination->last_failure = failure;
	talk.destination->last_unmet = failure == FAILURE_REFUSED;
	if (words)
		host_send(talk.host, words);
	if (waits)
		usleep(80000);
	host_close(talk.host);
	cr_expect_eq(talk.destination->budget.streak, success ? 0 : 3);
	cr_expect_eq(talk.destination->tally.successes, success);
}

Test(tcp_info, a_connect_left_at_once_after_connects_failed_is_a_success)
{
	is_back(FAILURE_REFUSED, NULL, false, true);
}

Test(tcp_info, a_line_said_at_once_after_connects_failed_is_a_success)
{
	is_back(FAILURE_REFUSED, "metric 1", false, true);
}

Test(tcp_info, a_connect_left_after_a_wait_is_nothing)
{
	is_back(FAILURE_REFUSED, NULL, true, false);
}

/* There connects have worked all along. */
Test(tcp_info, a_connect_left_at_once_after_answers_failed_is_nothing)
{
	is_back(FAILURE_DROPPED, NULL, false, false);
}

Test(tcp_info, knows_a_failure_before_the_peer_has_answered_from_one_after)
{
	struct server dead = serve(-1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct talk talk = talk_start();

	cr_assert_eq(host_connect(fd, &dead), -1);
	cr_expect_eq(destination_at_port(&dead)->last_unmet, 1);
	host_send(talk.host, "ask");
	peer_hears(&talk);
	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	cr_expect_eq(talk.destination->last_failure, FAILURE_DROPPED);
	cr_expect_eq(talk.destination->last_unmet, 0);
}
