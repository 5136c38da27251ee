/* SPDX-License-Identifier: MIT */
/* Which datagrams are demand: those of a socket that is asked first and answers. */
#include "track_fixture.h"

#include "conn/asked_by.h"
#include "conn/traffic.h"
#include "dest/demand.h"

#define FD 40

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

static void datagram_comes(void)
{
	char byte = 'q';

	if (socket_watched(FD) & WATCH_READ)
		traffic_received(FD, 1, 1, 0, &byte);
}

static void peeks(void)
{
	char byte = 'q';

	traffic_received(FD, 1, 1, MSG_PEEK, &byte);
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
	begin();
	datagram_goes();
	cr_expect_eq(socket_watched(FD), WATCH_OTHER, "its calls cost what they did");
	for (int i = 0; i < 3; i++)
		cr_expect_not(is_demand(datagram_comes));
	begin();
	asked_connects(FD);
	cr_expect_eq(socket_watched(FD), WATCH_OTHER);
	cr_expect_not(is_demand(datagram_comes));
}

Test(asked_by, a_stream_that_connects_is_left_alone)
{
	socket_created(FD, WATCH_SERVER);
	asked_connects(FD);
	cr_expect_eq(socket_watched(FD), WATCH_SERVER | WATCH_READ);
}
