/* SPDX-License-Identifier: MIT */
/* What a thread remembers of its tries. */
#include "budget_fixture.h"
#include "dest/tries.h"

#define HORIZON SECONDS(60)

static int64_t now = START_OF_TIME;

Test(tries, a_failed_try_with_nothing_since_is_a_loop)
{
	cr_expect_not(tries_loop(3, now));
	tries_failed(3, now);
	cr_expect(tries_loop(3, now));
	cr_expect_not(tries_loop(4, now));
	cr_expect_not(tries_loop(3, now + SECONDS(1)), "of an earlier streak");
	tries_note(3, now);
	cr_expect_not(tries_loop(3, now), "it is under way");
}

Test(tries, bytes_of_another_end_it_those_of_the_same_do_not)
{
	tries_failed(3, now);
	tries_heard(3);
	cr_expect(tries_loop(3, now));
	tries_heard(4);
	cr_expect_not(tries_loop(3, now));
	tries_failed(3, now);
	tries_heard(TRIES_NOWHERE);
	cr_expect_not(tries_loop(3, now), "somebody was served");
}

Test(tries, two_dead_ones_in_turn_are_loops)
{
	tries_failed(3, now);
	cr_expect(tries_sweep(4, HORIZON, now), "the first of the other is a sweep");
	tries_note(4, now);
	tries_failed(4, now);
	cr_expect_not(tries_sweep(3, HORIZON, now));
	cr_expect(tries_loop(3, now));
	cr_expect(tries_loop(4, now));
}

Test(tries, a_sweep_needs_a_failure_elsewhere)
{
	tries_note(3, now);
	cr_expect_not(tries_sweep(4, HORIZON, now));
	tries_failed(3, now);
	cr_expect(tries_sweep(4, HORIZON, now));
	tries_note(4, now);
	cr_expect_not(tries_sweep(4, HORIZON, now + HORIZON / 2));
	cr_expect(tries_sweep(4, HORIZON, now + 2 * HORIZON));
}

Test(tries, ten_refusals_in_a_row_are_a_spin_and_a_pause_ends_the_row)
{
	for (int i = 0; i < 10; i++)
		cr_expect_not(tries_refused(now += NS_PER_MS), "%d", i);
	cr_expect(tries_refused(now += NS_PER_MS));
	tries_held(now += SECONDS(1));
	cr_expect(tries_refused(now += NS_PER_MS), "a hold is no pause of its own");
	cr_expect_not(tries_refused(now += 50 * NS_PER_MS));
}

Test(tries, many_destinations_fit_by_age)
{
	for (uint32_t slot = 0; slot < 2 * THREAD_TRIES; slot++)
		tries_failed(slot, now += 10 * NS_PER_MS);
	cr_expect_not(tries_loop(0, 1));
	cr_expect(tries_loop(2 * THREAD_TRIES - 1, 1));
	cr_expect(tries_loop(THREAD_TRIES + 1, 1));
}
