/* SPDX-License-Identifier: MIT */
/* Outcomes of connects, and the oracle that is asked when a number is given up. */
#include "track_fixture.h"

TestSuite(outcome, .init = start_shim);

/* --- connects --- */

static int nonblocking_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
}

/* Waits until a non-blocking connect is over. */
static void until_over(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };

	cr_assert_eq(poll(&ready, 1, PATIENT_MS), 1);
}

Test(outcome, a_refused_connect)
{
	struct server server = serve(-1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(host_connect(fd, &server), -1);
	cr_expect_eq(errno, ECONNREFUSED);
	host_close(fd);
	EXPECT_FAILED(destination_at_port(&server), FAILURE_REFUSED);
	cr_expect_eq(destination_at_port(&server)->last_errno, ECONNREFUSED);
	cr_expect_eq(destination_at_port(&server)->budget.streak, 1);
}

Test(outcome, a_retry_makes_the_streak_grow)
{
	struct server server = serve(-1);

	for (int i = 1; i <= 4; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		cr_assert_eq(host_connect(fd, &server), -1);
		host_close(fd);
		cr_expect_eq(destination_at_port(&server)->budget.streak, i);
		cr_expect_eq(destination_at_port(&server)->tally.retries, i - 1);
	}
	EXPECT_COUNTED(destination_at_port(&server), 0, 4, FAILURE_REFUSED);
}

/* Each way of asking how a non-blocking connect went; none of them counts a second time. */
static void expect_refused_once(int (*ask)(int fd, const struct server *server))
{
	struct server server = serve(-1);
	int fd = nonblocking_socket();

	cr_assert_eq(host_connect(fd, &server), -1);
	cr_assert_eq(errno, EINPROGRESS);
	EXPECT_NOTHING(destination_at_port(&server));
	until_over(fd);
	cr_expect_eq(ask(fd, &server), ECONNREFUSED);
	host_close(fd);
	EXPECT_FAILED(destination_at_port(&server), FAILURE_REFUSED);
}

static int by_option(int fd, const struct server *server)
{
	(void)server;
	return host_error(fd);
}

static int by_connect(int fd, const struct server *server)
{
	return host_connect(fd, server) == 0 ? 0 : errno;
}

static int by_read(int fd, const struct server *server)
{
	(void)server;
	return host_recv(fd, 8, 0) >= 0 ? 0 : errno;
}

static int by_write(int fd, const struct server *server)
{
	(void)server;
	return host_send(fd, "ask") >= 0 ? 0 : errno;
}

static int by_close(int fd, const struct server *server)
{
	(void)fd, (void)server;
	return ECONNREFUSED;
}

Test(outcome, a_refusal_told_by_the_option)
{
	expect_refused_once(by_option);
}

Test(outcome, a_refusal_told_by_another_connect)
{
	expect_refused_once(by_connect);
}

Test(outcome, a_refusal_told_by_a_read)
{
	expect_refused_once(by_read);
}

Test(outcome, a_refusal_told_by_a_write)
{
	expect_refused_once(by_write);
}

Test(outcome, a_refusal_told_by_nobody)
{
	expect_refused_once(by_close);
}

Test(outcome, a_nonblocking_connect_and_an_answer)
{
	struct server server = serve(8);
	struct talk talk = { .host = nonblocking_socket() };

	cr_assert_eq(host_connect(talk.host, &server), -1);
	until_over(talk.host);
	cr_expect_eq(host_error(talk.host), 0);
	talk.peer = accept(server.fd, NULL, NULL);
	EXPECT_NOTHING(destination_at_port(&server));
	one_turn(&talk);
	EXPECT_SUCCESS(destination_at_port(&server));
}

/* A server whose queue is full: connects to it stay unanswered. */
static struct server deaf_server(void)
{
	struct server server = serve(0);

	for (int i = 0; i < 4; i++) {
		int fd = nonblocking_socket();

		connect(fd, (struct sockaddr *)&server.address, sizeof(server.address));
		usleep(10000);
		if (info_of(fd).tcpi_state != 1)
			return server;
	}
	cr_assert(false, "the queue does not fill");
	return server;
}

static struct talk unanswered(const struct server *server)
{
	struct talk talk = { .host = nonblocking_socket() };

	cr_assert_eq(host_connect(talk.host, server), -1);
	cr_assert_eq(errno, EINPROGRESS);
	talk.entry = socket_find(talk.host);
	talk.destination = destination_at_port(server);
	cr_assert_not_null(talk.entry);
	cr_assert_eq(info_of(talk.host).tcpi_state, 2);
	return talk;
}

/* The loser of a race between two addresses. */
Test(outcome, a_young_connect_that_is_given_up_is_nothing)
{
	struct server server = deaf_server();
	struct talk talk = unanswered(&server);

	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(outcome, an_old_connect_that_is_given_up_is_a_timeout)
{
	struct server server = deaf_server();
	struct talk talk = unanswered(&server);

	back_date(&talk, 1001);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
}

Test(outcome, a_connect_that_ran_into_its_send_timeout)
{
	struct server server = deaf_server();
	struct timeval timeout = { .tv_usec = 100000 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	cr_assert_eq(host_connect(fd, &server), -1);
	cr_expect_eq(errno, EINPROGRESS);
	EXPECT_FAILED(destination_at_port(&server), FAILURE_TIMEOUT);
	host_close(fd);
	EXPECT_FAILED(destination_at_port(&server), FAILURE_TIMEOUT);
}

/* Another thread closes the number under a blocking connect, which then ends on its own. */
Test(outcome, a_connect_whose_number_was_closed_counts_once)
{
	struct server server = deaf_server();
	struct talk talk = { .host = nonblocking_socket() };
	struct attempt try;

	cr_assert(attempt_begin_connect(&try, talk.host, (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
	attempt_start(&try);
	connect(talk.host, (struct sockaddr *)&server.address, sizeof(server.address));
	talk.entry = socket_find(talk.host);
	cr_assert_not_null(talk.entry);
	back_date(&talk, 1001);
	host_close(talk.host);
	errno = ETIMEDOUT;
	cr_assert_eq(attempt_settle(&try, -1), -1);
	cr_expect_eq(errno, ETIMEDOUT);
	EXPECT_FAILED(destination_at_port(&server), FAILURE_TIMEOUT);
}

/* --- the oracle --- */

Test(outcome, bytes_read_by_a_raw_call_are_a_success)
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
Test(outcome, bytes_and_the_end_unseen_are_a_success)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	peer_hears(&talk);
	peer_says(&talk, "s");
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(outcome, the_end_unseen_is_dropped)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	peer_hears(&talk);
	peer_closes(&talk);
	EXPECT_NOTHING(talk.destination);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(outcome, the_end_unseen_of_a_silent_connection_is_dropped)
{
	struct talk talk = talk_start();

	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_DROPPED);
}

Test(outcome, a_reset_unseen)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	peer_resets(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_RESET);
}

Test(outcome, a_reset_unseen_after_the_host_ended_its_half)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	peer_hears(&talk);
	host_shutdown(talk.host, SHUT_WR);
	peer_resets(&talk);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_RESET);
}

Test(outcome, an_answer_that_nobody_waited_for_is_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(outcome, a_one_way_life_is_a_success)
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

Test(outcome, a_short_one_way_life_is_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "log");
	until_acknowledged(talk.host);
	back_date(&talk, 1500);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(outcome, a_request_without_an_answer_for_a_second_is_a_timeout)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	until_acknowledged(talk.host);
	usleep(1100000);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
}

Test(outcome, a_request_on_a_kept_connection_without_an_answer_for_a_second_is_a_timeout)
{
	struct talk talk = talk_start();

	one_turn(&talk);
	usleep(20000); /* the kernel's own times are in ms */
	host_send(talk.host, "ask");
	until_acknowledged(talk.host);
	usleep(1100000);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_TIMEOUT);
}

Test(outcome, an_idle_kept_connection_is_nothing)
{
	struct talk talk = talk_start();

	one_turn(&talk);
	peer_closes(&talk);
	back_date(&talk, 10000);
	host_close(talk.host);
	EXPECT_SUCCESS(talk.destination);
}

Test(outcome, a_kept_connection_that_dropped_a_request_unseen)
{
	struct talk talk = talk_start();

	one_turn(&talk);
	usleep(20000);
	host_send(talk.host, "ask");
	peer_hears(&talk);
	usleep(20000);
	peer_closes(&talk);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 1, 1, FAILURE_DROPPED);
}

Test(outcome, a_spare_connection_is_nothing)
{
	struct talk talk = talk_start();

	back_date(&talk, 10000);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(outcome, a_greeting_waited_for_in_vain_is_a_timeout)
{
	struct talk talk = talk_start();

	cr_assert_eq(host_recv(talk.host, 8, MSG_DONTWAIT), -1);
	back_date(&talk, 1001);
	host_close(talk.host);
	EXPECT_FAILED(talk.destination, FAILURE_TIMEOUT);
}

Test(outcome, hanging_up_asks_too)
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

Test(outcome, what_the_host_ended_itself_is_nothing)
{
	struct talk talk = talk_start();

	host_send(talk.host, "ask");
	host_shutdown(talk.host, SHUT_RDWR);
	cr_assert_eq(host_recv(talk.host, 8, 0), 0);
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

Test(outcome, the_last_of_two_numbers_tells)
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
Test(outcome, of_two_numbers_one_tells)
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

Test(outcome, another_socket_on_the_number_is_not_judged)
{
	struct talk old = talk_start(), other = talk_start();

	host_send(old.host, "ask");
	peer_closes(&other);
	cr_assert_eq(dup2(other.host, old.host), old.host);
	host_close(old.host);
	EXPECT_NOTHING(old.destination);
}

/* --- threads --- */

#define SEERS  4
#define ROUNDS 100

struct sight {
	void (*see)(int fd);
	int fd;
	pthread_barrier_t *line;
};

static void *seer(void *arg)
{
	struct sight *sight = arg;

	pthread_barrier_wait(sight->line);
	sight->see(sight->fd);
	return NULL;
}

/* Each outcome is seen by several threads at once, in the ways given in turn. */
static void see_together(int fd, void (*const *ways)(int fd), int count)
{
	struct sight sights[SEERS];
	pthread_t threads[SEERS];
	pthread_barrier_t line;

	pthread_barrier_init(&line, NULL, SEERS);
	for (int i = 0; i < SEERS; i++) {
		sights[i] = (struct sight) { ways[i % count], fd, &line };
		cr_assert_eq(pthread_create(&threads[i], NULL, seer, &sights[i]), 0);
	}
	for (int i = 0; i < SEERS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&line);
}

static void see_the_end(int fd)
{
	traffic_received(fd, 0, 8, 0);
}

static void see_a_reset(int fd)
{
	errno = ECONNRESET;
	traffic_received(fd, -1, 8, 0);
}

static void see_a_broken_pipe(int fd)
{
	errno = EPIPE;
	traffic_sent(fd, -1, 0);
}

static void see_bytes(int fd)
{
	traffic_received(fd, 3, 8, 0);
}

static void see_the_connect_fail(int fd)
{
	attempt_observed(fd, ECONNREFUSED);
}

static void see_it_closed(int fd)
{
	attempt_end(fd);
}

Test(outcome, a_failure_seen_by_many_threads_counts_once, .timeout = 30)
{
	void (*const ways[])(int) = { see_the_end, see_a_reset, see_a_broken_pipe, see_it_closed };
	struct server server = serve(8);

	for (int i = 1; i <= ROUNDS; i++) {
		struct talk talk = talk_to(&server);

		host_send(talk.host, "ask");
		peer_hears(&talk);
		peer_closes(&talk);
		see_together(talk.host, ways, 4);
		cr_assert_eq(failures_in(&talk.destination->tally), i, "round %d: %d", i,
		             (int)failures_in(&talk.destination->tally));
		host_close(talk.host);
	}
	cr_expect_eq(destination_at_port(&server)->tally.successes, 0);
}

Test(outcome, an_answer_seen_by_many_threads_counts_once, .timeout = 30)
{
	void (*const ways[])(int) = { see_bytes };
	struct talk talk = talk_start();

	for (int i = 1; i <= ROUNDS; i++) {
		talk.destination->budget.streak = 1;
		host_send(talk.host, "ask");
		see_together(talk.host, ways, 1);
		EXPECT_COUNTED(talk.destination, i, 0, FAILURE_NONE);
	}
}

Test(outcome, a_refusal_seen_by_many_threads_counts_once, .timeout = 30)
{
	void (*const ways[])(int) = { see_the_connect_fail, see_it_closed };
	struct server server = serve(-1);

	for (int i = 1; i <= ROUNDS; i++) {
		int fd = nonblocking_socket();

		cr_assert_eq(host_connect(fd, &server), -1);
		until_over(fd);
		see_together(fd, ways, 2);
		cr_assert_eq(failures_in(&destination_at_port(&server)->tally), i);
		host_close(fd);
	}
}
