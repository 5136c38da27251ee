/* SPDX-License-Identifier: MIT */
/* Which datagram repeats which, by a clock of our own. */
#include "conn/datagrams.h"

#include <criterion/criterion.h>

#define SECOND  NS_PER_S
#define HORIZON (60 * SECOND)

static struct sent_datagram datagram(uint64_t socket, uint64_t bytes, int64_t at)
{
	return (struct sent_datagram) { .cookie = socket,
		                        .mark = bytes,
		                        .peer = 7,
		                        .at = at,
		                        .slot = 3,
		                        .generation = 1,
		                        .owner = 11,
		                        .process = 10 };
}

static void sent(uint64_t socket, uint64_t bytes, int64_t at)
{
	struct sent_datagram one = datagram(socket, bytes, at);

	datagrams_add(&one);
}

/* The bytes of the datagram that this one repeats, 0 = it repeats nothing. */
static uint64_t repeated(struct sent_datagram next)
{
	struct sent_datagram failed = { 0 };

	return datagrams_repeated(&next, HORIZON, &failed) ? failed.mark : 0;
}

Test(datagrams, nothing_is_known_at_first)
{
	cr_expect(datagrams_none());
	cr_expect_eq(repeated(datagram(1, 5, SECOND)), 0);
}

Test(datagrams, same_bytes_repeat_at_once_and_once_only)
{
	sent(1, 5, SECOND);
	cr_expect_eq(repeated(datagram(1, 5, SECOND + 1)), 5);
	cr_expect_eq(repeated(datagram(1, 5, SECOND + 2)), 0);
	cr_expect_not(datagrams_none(), "a late answer would still be one");
}

Test(datagrams, same_bytes_repeat_on_another_socket_of_another_thread)
{
	struct sent_datagram next = datagram(2, 5, SECOND + 1);

	sent(1, 5, SECOND);
	next.owner = 12;
	cr_expect_eq(repeated(next), 5);
}

Test(datagrams, other_bytes_repeat_after_a_timeout_only)
{
	sent(1, 5, SECOND);
	cr_expect_eq(repeated(datagram(1, 6, SECOND + DATAGRAM_TIMEOUT - 1)), 0);
	cr_expect_eq(repeated(datagram(1, 6, SECOND + DATAGRAM_TIMEOUT)), 5);
}

Test(datagrams, other_bytes_need_the_socket_or_the_thread)
{
	struct sent_datagram next = datagram(2, 6, 3 * SECOND);

	sent(1, 5, SECOND);
	next.owner = 12;
	cr_expect_eq(repeated(next), 0, "a stranger");
	next.cookie = 1;
	cr_expect_eq(repeated(next), 5, "another thread, the same socket");
	sent(1, 8, SECOND);
	cr_expect_eq(repeated(datagram(2, 6, 3 * SECOND)), 8, "another socket, the same thread");
}

Test(datagrams, each_of_a_pair_is_repeated_once)
{
	sent(1, 5, SECOND);
	sent(1, 6, SECOND + 1);
	cr_expect_eq(repeated(datagram(1, 7, 3 * SECOND)), 5, "the oldest first");
	cr_expect_eq(repeated(datagram(1, 8, 3 * SECOND)), 6);
	cr_expect_eq(repeated(datagram(1, 9, 3 * SECOND)), 0);
}

Test(datagrams, same_bytes_come_before_older_ones)
{
	sent(1, 5, SECOND);
	sent(1, 6, SECOND + 1);
	cr_expect_eq(repeated(datagram(1, 6, 3 * SECOND)), 6);
}

Test(datagrams, other_destinations_and_processes_repeat_nothing)
{
	struct sent_datagram next = datagram(1, 5, 3 * SECOND);

	sent(1, 5, SECOND);
	next.slot = 4;
	cr_expect_eq(repeated(next), 0);
	next = datagram(1, 5, 3 * SECOND);
	next.generation = 2;
	cr_expect_eq(repeated(next), 0);
	next = datagram(1, 5, 3 * SECOND);
	next.process = 20;
	cr_expect_eq(repeated(next), 0);
}

Test(datagrams, is_forgotten_after_the_horizon)
{
	sent(1, 5, SECOND);
	cr_expect_eq(repeated(datagram(1, 5, SECOND + HORIZON + 1)), 0);
	cr_expect(datagrams_none());
}

Test(datagrams, an_answer_settles_all_of_its_peer_and_socket)
{
	struct sent_datagram last;
	struct sent_datagram next = datagram(1, 5, 3 * SECOND);

	sent(1, 5, SECOND);
	sent(1, 6, SECOND + 1);
	sent(2, 8, SECOND);
	cr_expect_not(datagrams_answered(1, 9, &last), "from somebody else");
	cr_expect(datagrams_is_open(&next));
	cr_expect(datagrams_answered(1, 7, &last));
	cr_expect_eq(last.mark, 5);
	cr_expect(datagrams_answered(1, 7, &last), "one at a time, each is told of");
	cr_expect_eq(last.mark, 6);
	cr_expect_eq(repeated(datagram(3, 5, SECOND + 2)), 0);
	cr_expect_not(datagrams_answered(1, 7, &last), "a second datagram of the same answer");
	cr_expect(datagrams_answered(2, 0, &last), "from whom is not known");
	cr_expect(datagrams_none());
}

Test(datagrams, a_late_answer_is_one)
{
	struct sent_datagram last;

	sent(1, 5, SECOND);
	cr_expect_eq(repeated(datagram(1, 5, 2 * SECOND)), 5);
	cr_expect(datagrams_answered(1, 7, &last));
	cr_expect_eq(last.slot, 3);
}

Test(datagrams, overdue_takes_the_oldest_and_each_once)
{
	struct sent_datagram failed;

	sent(1, 5, 2 * SECOND);
	sent(1, 6, SECOND);
	cr_expect_not(datagrams_overdue(1, 10, SECOND, 2 * SECOND - 1, &failed));
	cr_expect_not(datagrams_overdue(2, 10, 0, 9 * SECOND, &failed), "another socket");
	cr_expect_not(datagrams_overdue(1, 20, 0, 9 * SECOND, &failed), "another process");
	cr_expect(datagrams_waits(1, 10, SECOND, 9 * SECOND));
	cr_expect(datagrams_overdue(1, 10, SECOND, 9 * SECOND, &failed));
	cr_expect_eq(failed.mark, 6);
	cr_expect(datagrams_overdue(1, 10, SECOND, 9 * SECOND, &failed));
	cr_expect_eq(failed.mark, 5);
	cr_expect_not(datagrams_overdue(1, 10, 0, 9 * SECOND, &failed));
	cr_expect_not(datagrams_waits(1, 10, 0, 9 * SECOND));
}

Test(datagrams, dropped_with_its_socket)
{
	sent(1, 5, SECOND);
	datagrams_drop(2, 10);
	datagrams_drop(1, 20);
	cr_expect_not(datagrams_none());
	datagrams_drop(1, 10);
	cr_expect(datagrams_none());
}

Test(datagrams, a_full_table_forgets_the_oldest)
{
	for (int i = 1; i <= DATAGRAMS + 10; i++)
		sent((uint64_t)i, (uint64_t)i, i);
	cr_expect_eq(repeated(datagram(1, 10, 1000)), 0);
	cr_expect_eq(repeated(datagram(1, 11, 1000)), 11);
	sent(999, 999, 999);
	cr_expect_eq(repeated(datagram(1, 12, 1000)), 12, "those that failed make room first");
}
