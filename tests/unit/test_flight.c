/* SPDX-License-Identifier: MIT */
/* Every way in which an attempt ends takes it out of those in flight, once. */
#include "flight_fixture.h"

#include "conn/datagram.h"
#include "conn/datagram_end.h"
#include "conn/datagrams.h"
#include "conn/pending_lookups.h"

#include <sys/wait.h>

TestSuite(flight, .init = start_counting);

Test(flight, until_the_first_answer)
{
	struct talk talk = talk_start();

	cr_expect_eq(in_flight(talk.destination), 1);
	host_send(talk.host, "ask");
	cr_expect_eq(in_flight(talk.destination), 1);
	peer_hears(&talk);
	peer_says(&talk, "say");
	host_recv(talk.host, 8, 0);
	cr_expect_eq(in_flight(talk.destination), 0);
	one_exchange(&talk);
	talk_start();
	host_close(talk.host);
	cr_expect_eq(in_flight(talk.destination), 0);
}

Test(flight, until_it_is_refused)
{
	struct server server = serve(-1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(host_connect(fd, &server), -1);
	cr_expect_eq(in_flight(destination_at_port(&server)), 0);
}

Test(flight, until_it_is_refused_later)
{
	struct server server = serve(-1);
	int fd = nonblocking_socket();

	cr_assert_eq(host_connect(fd, &server), -1);
	cr_assert_eq(errno, EINPROGRESS);
	cr_expect_eq(in_flight(destination_at_port(&server)), 1);
	until_over(fd);
	cr_expect_eq(host_error(fd), ECONNREFUSED);
	cr_expect_eq(in_flight(destination_at_port(&server)), 0);
}

Test(flight, until_it_breaks)
{
	struct server server = serve(8);
	struct talk first = talk_to(&server), second = talk_to(&server);

	cr_expect_eq(in_flight(first.destination), 2);
	peer_closes(&first);
	host_recv(first.host, 8, 0);
	cr_expect_eq(in_flight(first.destination), 1);
	peer_resets(&second);
	host_recv(second.host, 8, 0);
	cr_expect_eq(in_flight(first.destination), 0);
}

Test(flight, until_the_host_gives_it_up)
{
	struct server server = serve(8);
	struct talk first = talk_to(&server), second = talk_to(&server);

	host_close(first.host);
	cr_expect_eq(in_flight(first.destination), 1);
	host_shutdown(second.host, SHUT_RDWR);
	cr_expect_eq(in_flight(first.destination), 0);
	host_close(second.host);
	cr_expect_eq(in_flight(first.destination), 0);
}

Test(flight, until_the_last_number_of_it_is_closed)
{
	struct talk talk = talk_start();
	int twin = dup(talk.host);

	socket_duplicated(talk.host, twin);
	host_close(talk.host);
	cr_expect_eq(in_flight(talk.destination), 1);
	host_close(twin);
	cr_expect_eq(in_flight(talk.destination), 0);
}

/* The number that was closed first is given to a new socket while the other one lives on. */
Test(flight, once_of_two_numbers)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server), other = talk_to(&server);
	int twin = dup(talk.host), fd = talk.host;

	socket_duplicated(fd, twin);
	host_close(fd);
	cr_expect_eq(in_flight(other.destination), 2);
	cr_assert_eq(socket(AF_INET, SOCK_STREAM, 0), fd);
	socket_created(fd, WATCH_STREAM);
	cr_expect_eq(in_flight(other.destination), 2);
	host_close(twin);
	cr_expect_eq(in_flight(other.destination), 1, "the other connection");
}

/* Beyond the table nothing more will be seen of it: that it connects is all there is to know. */
Test(flight, until_it_connects_beyond_the_table)
{
	struct server server = serve(8);
	struct attempt try;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert(attempt_begin_connect(&try, fd, (struct sockaddr *)&server.address,
	                                sizeof(server.address)));
	cr_expect_eq(in_flight(try.trial.destination), 1);
	try.fd = SOCKETS + 1;
	try.trial.probe = try.permit = true;
	try.admitted = monotonic();
	atomic_store(&try.account.budget->breaker.state, 2); /* half open */
	slices_add(&try.account.budget->breaker.probes, DAY, 1, try.admitted);
	attempt_start(&try);
	attempt_settle(&try, 0);
	cr_expect_eq(in_flight(try.trial.destination), 0);
	cr_expect_eq(permits(try.trial.destination), 0);
	cr_expect(breaker_is_closed(&try.account.budget->breaker));
}

/* getaddrinfo_a: the table of requests keeps all that its end wants to know. */
Test(flight, until_a_lookup_begun_is_asked_for)
{
	struct request asked, begun = { .kind = AF_INET, .paid = true, .permit = true };
	struct attempt try;

	cr_assert(attempt_begin_lookup(&try, "svc.test", NULL));
	begun.trial = try.trial;
	begun.trial.probe = true;
	begun.began = try.began;
	begun.admitted = try.began + 5;
	pending_lookup_enter(&begun, &begun);
	cr_assert(pending_lookup_take(&begun, &asked));
	cr_expect(asked.paid && asked.permit && asked.trial.probe);
	cr_expect_eq(asked.began, begun.began);
	cr_expect_eq(asked.admitted, begun.admitted);
}

Test(flight, until_its_number_is_somebody_elses)
{
	struct server server = serve(8);
	struct talk talk = talk_to(&server);
	int fd = talk.host;

	close(fd); /* unseen */
	cr_assert_eq(socket(AF_INET, SOCK_STREAM, 0), fd);
	socket_created(fd, WATCH_STREAM);
	cr_expect_eq(in_flight(talk.destination), 0);
	cr_assert_eq(host_connect(fd, &server), 0);
	cr_expect_eq(in_flight(talk.destination), 1);
	close(fd);
	cr_assert_eq(socket(AF_INET, SOCK_STREAM, 0), fd);
	cr_assert_eq(host_connect(fd, &server), 0);
	cr_expect_eq(in_flight(talk.destination), 1, "the cookie tells");
}

/* A child closes what it inherited; its parent goes on with it. */
Test(flight, not_until_a_child_closes_it)
{
	struct talk talk = talk_start();
	pid_t child = fork();

	if (child == 0) {
		thread_id();
		thread_facts.process = getpid();
		host_close(talk.host);
		socket_created(talk.host, WATCH_STREAM);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	cr_expect_eq(in_flight(talk.destination), 1);
	host_close(talk.host);
	cr_expect_eq(in_flight(talk.destination), 0);
}

Test(flight, until_a_lookup_is_over)
{
	struct attempt try;

	cr_assert(attempt_begin_lookup(&try, "db.internal", NULL));
	cr_expect_eq(in_flight(try.trial.destination), 1);
	attempt_settle_lookup(&try, EAI_FAMILY);
	cr_expect_eq(in_flight(try.trial.destination), 0);
}

/* What the table of unanswered datagrams keeps of it is enough to end it. */
Test(flight, until_a_datagram_is_answered)
{
	struct talk talk = talk_start();
	struct budget *budget = &talk.destination->budget;
	struct sent_datagram last, sent = {
		.cookie = 7,
		.mark = 1,
		.at = monotonic(),
		.slot = destination_slot(talk.destination),
		.generation = (uint32_t)talk.destination->generation,
		.process = thread_process(),
		.retry = true,
		.probe = true,
		.flying = true,
		.paid = true,
		.permit = true,
	};

	slices_add(&budget->requests, DAY, 1, sent.at);
	slices_add(&budget->spent, DAY, 1, sent.at);
	slices_add(&budget->breaker.probes, DAY, 1, sent.at);
	datagrams_add(&sent);
	cr_assert(datagrams_answered(7, 0, &last));
	cr_expect(last.probe);
	flight_end_datagram(talk.destination, &last);
	cr_expect_eq(in_flight(talk.destination), 1, "the connection");
	cr_expect_eq(retries(talk.destination), 0);
	cr_expect_eq(permits(talk.destination), 0);
}

/* A and AAAA of one lookup, say: whatever comes answers both, and both have ended. */
Test(flight, of_every_datagram_that_is_answered)
{
	struct talk talk = talk_start();
	struct budget *budget = &talk.destination->budget;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct sent_datagram sent = {
		.at = monotonic(),
		.slot = destination_slot(talk.destination),
		.generation = (uint32_t)talk.destination->generation,
		.process = thread_process(),
		.flying = true,
		.probe = true,
		.permit = true,
	};
	socklen_t len = sizeof(sent.cookie);

	cr_assert_eq(getsockopt(fd, SOL_SOCKET, SO_COOKIE, &sent.cookie, &len), 0);
	atomic_store(&budget->breaker.state, 2);              /* half open */
	slices_add(&budget->breaker.probes, DAY, 1, sent.at); /* of the first alone */
	for (sent.mark = 1; sent.mark <= 2; sent.mark++) {
		slices_add(&budget->requests, DAY, 1, sent.at);
		datagrams_add(&sent);
		sent.permit = sent.probe = false;
		sent.at++;
	}
	cr_assert_eq(in_flight(talk.destination), 3);
	cr_assert_eq(permits(talk.destination), 1);
	cr_expect_eq(datagram_received(fd, 1, 0, NULL, 0, NULL, 0), 1);
	cr_expect_eq(in_flight(talk.destination), 1, "the connection");
	cr_expect_eq(permits(talk.destination), 0);
	cr_expect(breaker_is_closed(&budget->breaker));
	cr_expect(datagrams_none());
}

Test(flight, a_retry_that_paid_ends_as_one)
{
	struct server server = serve(-1);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(host_connect(fd, &server), -1);
	fd = nonblocking_socket();
	let_go(&server, true, fd);
	cr_expect_eq(in_flight(destination_at_port(&server)), 1);
	cr_expect_eq(retries(destination_at_port(&server)), 1);
	until_over(fd);
	host_error(fd);
	cr_expect_eq(in_flight(destination_at_port(&server)), 0);
	cr_expect_eq(retries(destination_at_port(&server)), 0);
}
