/* SPDX-License-Identifier: MIT */
/* TCP_INFO beside what is known from before, or of another number. */
#include "tcp_info_fixture.h"

/* How soon answers come is learned from the first on each connection. */
Test(tcp_info, learns_how_soon_answers_come)
{
	struct talk talk = talk_start();
	int64_t first;

	one_exchange(&talk);
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

static int timeouts_of(struct destination *destination, int64_t answers_take, int64_t waited)
{
	int timeouts = 0;

	destination->answer_time = answers_take;
	for (int i = 0; i < 5; i++)
		timeouts += answer_time_is_timeout(destination, waited, 1000 * NS_PER_S);
	answer_time_answered(destination, -1);
	return timeouts;
}

/* Who is about to die answers late before: ten times as long as that is longer than anybody waits.
 */
Test(tcp_info, waits_longer_than_answers_take_are_timeouts_from_the_third_running_on)
{
	struct destination destination = { 0 };

	cr_expect_eq(timeouts_of(&destination, 200 * NS_PER_MS, NS_PER_S), 3);
	cr_expect_eq(timeouts_of(&destination, 200 * NS_PER_MS, 600 * NS_PER_MS), 3);
	cr_expect_eq(timeouts_of(&destination, 200 * NS_PER_MS, 399 * NS_PER_MS), 0);
	cr_expect_eq(timeouts_of(&destination, 20 * NS_PER_MS, 99 * NS_PER_MS), 0);
	cr_expect_eq(timeouts_of(&destination, NS_PER_S, 9 * NS_PER_S), 0, "long polls");
	cr_expect_eq(timeouts_of(&destination, NS_PER_S, 10 * NS_PER_S), 5);
	cr_expect_eq(timeouts_of(&destination, INT64_MIN, NS_PER_S), 0, "corrupted");
}

Test(tcp_info, where_nobody_was_answered_the_third_short_wait_running_is_in_vain)
{
	struct destination destination = { 0 };
	int in_vain = 0;

	for (int i = 0; i < 5; i++)
		in_vain += answer_time_is_in_vain(&destination, 100 * NS_PER_MS, NS_PER_S);
	cr_expect_eq(in_vain, 3);
	cr_expect_not(answer_time_is_in_vain(&destination, NS_PER_S, NS_PER_S), "a poll");
	cr_expect_not(answer_time_is_in_vain(&destination, 99 * NS_PER_MS, NS_PER_S));
	answer_time_answered(&destination, NS_PER_MS);
	for (int i = 0; i < 5; i++)
		cr_expect_not(answer_time_is_in_vain(&destination, 200 * NS_PER_MS, NS_PER_S));
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

	host_asks(&talk, "ask");
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

	one_exchange(&talk); /* nothing to gain any more */
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
	host_asks(&talk, "ask");
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
	host_asks(&talk, "ask");
	host_is_left(&talk);
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
	host_asks(&talk, "ask");
	host_is_left(&talk);
	cr_expect_eq(talk.destination->last_failure, FAILURE_DROPPED);
	cr_expect_eq(talk.destination->last_unmet, 0);
}

/* The server's only answer to a message is its end. The message says goodbye, where it came after
 * an idle second; unless it is a request of HTTP, which asks for more. */
static void end_after(int idle_ms, const char *message)
{
	const bool http = *message == 'G';
	const char *reply = http ? "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" : "here";
	struct talk talk = talk_start();

	host_send(talk.host, http ? message : "get");
	peer_hears(&talk);
	peer_says(&talk, reply);
	for (size_t i = 0; i < strlen(reply); i += 8)
		cr_assert_gt(host_recv(talk.host, 8, 0), 0);
	usleep((useconds_t)idle_ms * 1000);
	host_send(talk.host, message);
	peer_hears(&talk);
	peer_closes(&talk);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	host_close(talk.host);
	cr_expect_eq(talk.destination->tally.failures[FAILURE_DROPPED], idle_ms < 1000 || http,
	             "%s after %d ms", message, idle_ms);
}

Test(tcp_info, a_message_after_an_idle_second_may_have_been_a_goodbye)
{
	end_after(1200, "quit");
}

Test(tcp_info, a_message_that_was_not_is_lost)
{
	end_after(0, "quit");
}

Test(tcp_info, a_request_of_http_is_no_goodbye)
{
	end_after(1200, "GET / HTTP/1.1\r\n\r\n");
}

/* Of connections that had been answered, longer ago than is counted, many end at one time: they say
 * nothing of connects. */
Test(tcp_info, many_that_had_been_answered_do_not_add_up)
{
	struct server server = serve(16);
	struct talk talks[4];
	struct allowance *allowance;

	for (size_t i = 0; i < 4; i++) {
		talks[i] = talk_to(&server);
		host_send(talks[i].host, "get");
		peer_hears(&talks[i]);
		peer_says(&talks[i], "here");
		cr_assert_gt(host_recv(talks[i].host, 8, 0), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		host_send(talks[i].host, "get");
		peer_hears(&talks[i]);
		peer_closes(&talks[i]);
		cr_assert_eq(host_recv(talks[i].host, 8, 0), 0);
		host_close(talks[i].host);
	}
	allowance = &talks[0].destination->budget.allowance;
	cr_expect_eq(talks[0].destination->tally.failures[FAILURE_DROPPED], 4);
	cr_expect_eq(allowance->failed, 1, "%ld", (long)allowance->failed);
}
