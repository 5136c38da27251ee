/* SPDX-License-Identifier: MIT */
/* Which datagrams are demand: those of a socket that is asked first and answers. */
#include "track_fixture.h"

#include "conn/asked_by.h"
#include "conn/traffic.h"
#include "dest/demand.h"
#include "dest/tries.h"
#include "pace/hold.h"

#include <fcntl.h>

#define FD     40
#define BEYOND (2 * BLOCK_NUMBERS) /* where no stream has been */

TestSuite(asked_by, .init = start_shim);

static uint32_t slot;

/* True if what the thread tries now is new work, asked for since a failure of just now. */
static bool is_demand(void (*happens)(void))
{
	int64_t failed_at = monotonic();

	usleep(1000);
	happens();
	return demand_is_new(++slot, failed_at);
}

static void comes(int count, bool told, int flags)
{
	if (socket_watched(FD) & WATCH_READ)
		asked_by_datagrams(FD, count, told, flags);
}

static void datagram_comes(void)
{
	comes(1, true, 0);
}

static void two_come(void)
{
	comes(2, true, 0);
}

static void comes_unless_it_has_to_wait(void)
{
	comes(1, true, MSG_DONTWAIT);
}

static void comes_from_nobody(void)
{
	comes(1, false, 0);
}

static void peeks(void)
{
	comes(1, true, MSG_PEEK);
}

/* By recv() or read(), which do not say from whom. */
static void is_read(void)
{
	char byte = 'q';

	if (socket_watched(FD) & WATCH_READ)
		traffic_received(FD, 1, 1, 0, &byte);
}

static void datagram_goes(void)
{
	if (socket_watched(FD) & WATCH_WRITE)
		traffic_sent(FD, 1, 0, 0);
}

static void begin(void)
{
	demand_tried(63); /* it is no new thread */
	socket_created(FD, WATCH_OTHER | WATCH_SERVER);
}

Test(asked_by, of_one_that_answers_each_is)
{
	begin();
	cr_expect_not(is_demand(peeks));
	for (int i = 0; i < 3; i++) {
		cr_expect(is_demand(datagram_comes));
		cr_expect_not(is_demand(datagram_goes));
	}
	cr_expect(is_demand(datagram_comes));
	cr_expect_not(demand_serves_many());
	cr_expect(is_demand(datagram_comes), "another, before the first is answered");
	cr_expect(demand_serves_many());
}

Test(asked_by, a_log_has_no_excuse_for_each_line)
{
	begin();
	cr_expect(is_demand(datagram_comes), "nobody knows yet");
	for (int i = 0; i < 3; i++)
		cr_expect_not(is_demand(datagram_comes));
	cr_expect_not(socket_watched(FD) & WATCH_READ);
}

Test(asked_by, who_answers_no_more_has_none_after_a_while)
{
	begin();
	datagram_comes();
	datagram_goes();
	cr_expect(is_demand(datagram_comes));
	STORE(socket_at(FD)->since, monotonic() - 11 * NS_PER_S);
	datagram_comes();
	cr_expect_not(is_demand(datagram_comes));
	datagram_goes();
	cr_expect(is_demand(datagram_comes), "it answers again");
}

Test(asked_by, replies_are_not)
{
	const struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(9) };
	struct attempt try;

	begin();
	datagram_goes();
	cr_expect_eq(socket_watched(FD), WATCH_OTHER, "its calls cost what they did");
	for (int i = 0; i < 3; i++)
		cr_expect_not(is_demand(datagram_comes));
	begin();
	cr_expect_not(attempt_begin_connect(&try, FD, (struct sockaddr *)&peer, sizeof(peer)));
	cr_expect_eq(socket_watched(FD), WATCH_OTHER);
	cr_expect_not(is_demand(datagram_comes));
}

Test(asked_by, nobody_answers_whom_it_does_not_know)
{
	begin();
	cr_expect_not(is_demand(comes_from_nobody));
	cr_expect_eq(socket_watched(FD), WATCH_OTHER);
	begin();
	cr_expect_not(is_demand(is_read), "it may be a pipe by now");
	cr_expect_eq(socket_watched(FD), WATCH_OTHER);
}

/* Whose request an attempt of its is for cannot be told: see rule asked. */
Test(asked_by, one_that_need_not_wait_serves_many)
{
	int ends[2];

	begin();
	datagram_comes();
	datagram_goes();
	comes_unless_it_has_to_wait();
	cr_expect(demand_serves_many());
	thread_facts.serves_many = false;
	datagram_goes();
	two_come();
	cr_expect(demand_serves_many());
	thread_facts.serves_many = false;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends), 0);
	cr_assert_eq(dup2(ends[0], FD), FD);
	begin();
	thread_facts.serves_many = thread_facts.owes = false;
	datagram_comes();
	cr_expect(demand_serves_many());
}

static void one_comes_on(int fd)
{
	asked_by_datagrams(fd, 1, true, 0);
}

Test(asked_by, whoever_has_two_services_serves_many)
{
	begin();
	socket_created(FD + 1, WATCH_OTHER | WATCH_SERVER);
	one_comes_on(FD + 1);
	asked_has_sent(FD + 1);
	datagram_comes();
	cr_expect(demand_serves_many());
	datagram_goes();
	datagram_comes();
	thread_facts.serves_many = false;
	asked_has_sent(FD + 1);
	datagram_comes();
	cr_expect(demand_serves_many(), "what goes elsewhere is no answer to it");
}

Test(asked_by, whoever_had_another_service_serves_one)
{
	begin();
	socket_created(FD + 1, WATCH_OTHER | WATCH_SERVER);
	one_comes_on(FD + 1);
	socket_forget(FD + 1);
	datagram_comes();
	cr_expect_not(demand_serves_many());
}

/* A thread for each datagram often connects before it has read anything. */
Test(asked_by, a_thread_that_is_started_for_it_has_new_work)
{
	int64_t failed_at = monotonic();

	begin();
	usleep(1000);
	datagram_comes();
	thread_facts.asked_at = 0;
	cr_expect_not(demand_is_new(++slot, failed_at));
	thread_facts.worked_off = 0;
	cr_expect(demand_is_new(++slot, failed_at));
}

Test(asked_by, who_is_asked_has_done_something_else)
{
	begin();
	tries_failed(3, monotonic());
	cr_assert(thread_facts.stuck);
	datagram_comes();
	cr_expect_not(thread_facts.stuck);
}

static void *one_comes_and_goes(void *unused)
{
	(void)unused;
	datagram_comes();
	datagram_goes();
	return NULL;
}

static void another_thread_is_asked_and_answers(void)
{
	pthread_t other;

	cr_assert_eq(pthread_create(&other, NULL, one_comes_and_goes, NULL), 0);
	cr_assert_eq(pthread_join(other, NULL), 0);
}

/* Eight threads read one socket, and each answers before it reads again. */
Test(asked_by, who_answers_first_serves_one_at_a_time)
{
	begin();
	datagram_comes();
	datagram_goes();
	for (int i = 0; i < 3; i++) {
		datagram_comes();
		another_thread_is_asked_and_answers();
		datagram_goes();
	}
	datagram_comes();
	cr_expect_not(demand_serves_many());
	another_thread_is_asked_and_answers();
	datagram_comes();
	cr_expect(demand_serves_many(), "of its own it has answered none");
}

/* How long a call of this thread may be slowed down, which does nothing but try: at most, for on a
 * busy machine it may seem to sleep. */
static int64_t is_slowed_down(struct destination *destination)
{
	const struct attempt try = { .fd = FD + 2, .trial.destination = destination };
	int64_t most = 0;

	for (int i = 0; i < 2 * THREAD_ROW; i++)
		most = greater(most, hold_most(&try, false, monotonic()));
	return most;
}

/* Others may have been answered on the same socket since. */
Test(asked_by, who_waits_for_an_answer_waits_no_longer_than_a_failure_takes)
{
	struct destination destination = { .failing_time = 7 };

	begin();
	datagram_comes();
	datagram_goes();
	cr_expect_eq(is_slowed_down(&destination), INT64_MAX, "nobody waits");
	datagram_comes();
	another_thread_is_asked_and_answers();
	cr_expect_eq(is_slowed_down(&destination), 7);
	datagram_goes();
	cr_expect_eq(is_slowed_down(&destination), INT64_MAX);
}

Test(asked_by, a_stream_that_connects_is_left_alone)
{
	socket_created(FD, WATCH_SERVER);
	asked_connects(FD);
	cr_expect_eq(socket_watched(FD), WATCH_SERVER | WATCH_READ);
}

/* The number was given away while its thread waited for a datagram. */
Test(asked_by, a_number_that_is_another_sockets_by_now_is_left_alone)
{
	const unsigned int given[] = { 0, WATCH_STREAM, WATCH_SERVER | WATCH_READ,
		                       WATCH_READ | WATCH_WRITE | WATCH_END | WATCH_TIMED };

	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		for (int told = 0; told < 2; told++) {
			begin();
			STORE(socket_watch[FD], (uint8_t)given[i]);
			STORE(socket_at(FD)->traits, TRAIT_HTTP);
			asked_by_datagrams(FD, 1, told, 0);
			cr_expect_eq(socket_watched(FD), given[i], "%zu", i);
			cr_expect_eq(socket_at(FD)->traits, TRAIT_HTTP);
		}
	}
	cr_expect_eq(demand_served(monotonic()), 0);
}

/* Nothing is mapped for what may be a client. */
Test(asked_by, takes_no_memory)
{
	socket_created(BEYOND, WATCH_OTHER | WATCH_SERVER);
	cr_expect_eq(socket_watched(BEYOND), WATCH_OTHER);
	cr_expect_not(socket_has_room(BEYOND));
	begin();
	socket_duplicated(FD, BEYOND);
	cr_expect_not(socket_has_room(BEYOND));
	cr_expect(socket_make_room(BEYOND));
	socket_created(BEYOND, WATCH_OTHER | WATCH_SERVER);
	cr_expect(socket_watched(BEYOND) & WATCH_SERVER, "where there is some it is watched");
}

Test(asked_by, another_number_of_it_knows_as_much)
{
	begin();
	datagram_comes();
	datagram_goes();
	datagram_comes();
	cr_assert_neq(socket_at(FD)->since, 0);
	STORE(socket_at(FD)->traits, TRAIT_NOWAIT);
	socket_duplicated(FD, FD + 1);
	cr_expect_eq(socket_watched(FD + 1), socket_watched(FD));
	cr_expect_eq(socket_at(FD + 1)->since, socket_at(FD)->since);
	cr_expect_eq(socket_at(FD + 1)->traits, TRAIT_NOWAIT);
}
