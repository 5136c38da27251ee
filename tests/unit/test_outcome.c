/* SPDX-License-Identifier: MIT */
/* Outcomes of connects, each way in which a program learns them. */
#include "track_fixture.h"

#include "dest/answer_time.h"
#include "conn/settle.h"

TestSuite(outcome, .init = start_shim);

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

/* A connect from the port of another connection to this server: nothing is sent. */
static void expect_port_taken(const struct server *server, const struct sockaddr_in *from)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	cr_assert_eq(bind(fd, (const struct sockaddr *)from, sizeof(*from)), 0);
	cr_assert_eq(host_connect(fd, server), -1);
	cr_expect_eq(errno, EADDRNOTAVAIL);
	host_close(fd);
}

static void take_port(const struct server *server, struct sockaddr_in *from)
{
	socklen_t len = sizeof(*from);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	*from = (struct sockaddr_in) { .sin_family = AF_INET,
		                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	cr_assert_eq(bind(fd, (struct sockaddr *)from, sizeof(*from)), 0);
	cr_assert_eq(connect(fd, (const struct sockaddr *)&server->address, sizeof(*from)), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)from, &len), 0);
	cr_assert_geq(accept(server->fd, NULL, NULL), 0);
}

/* Who walks through ports of his own until one is free (NFS, rsh) tries the server once. */
Test(outcome, a_port_that_is_taken_is_no_failure_of_the_server)
{
	struct server server = serve(8);
	struct sockaddr_in from;

	take_port(&server, &from);
	for (int i = 0; i < 8; i++)
		expect_port_taken(&server, &from);
	EXPECT_NOTHING(destination_at_port(&server));
	cr_expect_eq(destination_at_port(&server)->tally.retries, 0);
}

Test(outcome, a_port_that_is_taken_leaves_a_failure_as_it_is)
{
	struct server server = serve(8), dead = server;
	struct sockaddr_in from;
	int fd;

	take_port(&server, &from);
	cr_assert_eq(close(server.fd), 0);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(host_connect(fd, &dead), -1);
	cr_assert_eq(errno, ECONNREFUSED);
	host_close(fd);
	expect_port_taken(&dead, &from);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(host_connect(fd, &dead), -1);
	host_close(fd);
	EXPECT_COUNTED(destination_at_port(&dead), 0, 2, FAILURE_REFUSED);
	cr_expect_eq(destination_at_port(&dead)->tally.retries, 2);
}

static void ends_without_a_port(const struct server *server)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct attempt try;

	cr_assert(attempt_begin_connect(&try, fd, (const struct sockaddr *)&server->address,
	                                sizeof(server->address)));
	attempt_start(&try);
	errno = EADDRNOTAVAIL;
	cr_expect_eq(attempt_settle(&try, -1), -1);
	host_close(fd);
}

/* A loop over both families of a name, one of which has no address here, is no work of many kinds.
 */
Test(outcome, a_want_of_ports_is_no_excuse_while_the_server_fails)
{
	struct server server = serve(8), dead;
	struct destination *destination = destination_at_port(&server);

	for (int i = 0; i < 8; i++) {
		struct talk talk = talk_to(&server);

		peer_says(&talk, "x");
		cr_assert_eq(host_recv(talk.host, 8, 0), 1);
		host_close(talk.host);
	}
	ends_without_a_port(&server);
	destination = destination_at_port(&server);
	EXPECT_COUNTED(destination, 8, 0, FAILURE_LOCAL);
	dead = server;
	cr_assert_eq(close(server.fd), 0);
	for (int i = 0; i < 2; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		cr_assert_eq(host_connect(fd, &dead), -1);
		host_close(fd);
	}
	ends_without_a_port(&dead);
	cr_expect_eq(destination->last_errno, EADDRNOTAVAIL);
	cr_expect_eq(destination->last_failure, FAILURE_LOCAL);
}

/* Of a resolver nobody knows by a failed lookup that anything is there. */
Test(outcome, of_a_lookup_that_failed_nobody_was_met)
{
	struct server server = serve(8);
	struct destination *destination = talk_to(&server).destination;
	struct trial trial = { .destination = destination,
		               .generation = (uint32_t)destination->generation };

	outcome_failure(&trial, FAILURE_RESET, ECONNRESET, 0);
	cr_expect_eq(destination->last_unmet, 0);
	outcome_failure(&trial, FAILURE_LOOKUP, 0, EAI_AGAIN);
	cr_expect_eq(destination->last_unmet, 1);
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
	one_exchange(&talk);
	EXPECT_SUCCESS(destination_at_port(&server));
}

/* Fills its queue: connects to it stay unanswered. */
static void deafen(const struct server *server)
{
	for (int i = 0; i < 4; i++) {
		int fd = nonblocking_socket();

		connect(fd, (const struct sockaddr *)&server->address, sizeof(server->address));
		usleep(10000);
		if (info_of(fd).tcpi_state != 1)
			return;
	}
	cr_assert(false, "the queue does not fill");
}

static struct server deaf_server(void)
{
	struct server server = serve(0);

	deafen(&server);
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

	back_date(&talk, -1000); /* a slow machine would make it old */
	host_close(talk.host);
	EXPECT_NOTHING(talk.destination);
}

/* A client that gives a connect 200 ms does so each time. */
Test(outcome, young_connects_that_are_given_up_one_after_another_are_timeouts)
{
	struct server server = deaf_server();
	struct talk talk;

	for (int i = 1; i <= 4; i++) {
		talk = unanswered(&server);
		back_date(&talk, 200);
		host_close(talk.host);
		cr_expect_eq(talk.destination->tally.failures[FAILURE_TIMEOUT], i < 3 ? 0 : i - 2,
		             "%d", i);
	}
	answer_time_answered(talk.destination, NS_PER_MS);
	talk = unanswered(&server);
	back_date(&talk, 200);
	host_close(talk.host);
	EXPECT_COUNTED(talk.destination, 0, 2, FAILURE_TIMEOUT);
}

static void lose(const struct server *server)
{
	struct talk talk;

	for (int i = 0; i < 4; i++) {
		talk = unanswered(server);
		back_date(&talk, 200);
		host_close(talk.host);
	}
	EXPECT_NOTHING(talk.destination);
}

/* With another beside it that has met its peer, which the program knows by poll() alone. */
Test(outcome, young_connects_that_lose_a_race_are_nothing)
{
	struct server server = serve(0);
	int winner = nonblocking_socket();

	cr_assert_eq(host_connect(winner, &server), -1);
	until_over(winner);
	cr_assert_eq(LOAD(socket_find(winner)->state), SOCKET_CONNECTING);
	deafen(&server);
	lose(&server);
}

Test(outcome, young_connects_that_lose_a_race_whose_winner_is_known_are_nothing)
{
	struct server server = serve(0);
	int winner = nonblocking_socket();

	cr_assert_eq(host_connect(winner, &server), -1);
	until_over(winner);
	cr_assert_eq(host_error(winner), 0);
	cr_assert_eq(LOAD(socket_find(winner)->state), SOCKET_OPEN);
	deafen(&server);
	lose(&server);
}

/* Of a crowd at a black hole each has others beside it, and nobody has won. */
Test(outcome, young_connects_that_are_given_up_side_by_side_are_timeouts)
{
	struct server server = deaf_server();
	struct talk talks[4];

	for (int i = 0; i < 4; i++) {
		talks[i] = unanswered(&server);
		back_date(&talks[i], 200);
	}
	for (int i = 0; i < 4; i++)
		host_close(talks[i].host);
	EXPECT_COUNTED(talks[0].destination, 0, 2, FAILURE_TIMEOUT);
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

/* What asks for a trial has an unset one on its stack. */
Test(outcome, a_trial_is_set_in_all_its_parts)
{
	struct talk talk = talk_start();
	struct trial trial;

	memset(&trial, 1, sizeof(trial));
	cr_assert(trial_of(talk.entry, &trial));
	cr_expect_not(trial.mute, "a failure is seen when it comes, and no datagram's");
	cr_expect_not(trial.retry);
	cr_expect_not(trial.probe);
	close(talk.peer);
	host_close(talk.host);
}
