/* SPDX-License-Identifier: MIT */
/* What a thread remembers of its tries. */
#include "budget_fixture.h"
#include "dest/tries.h"
#include "region/region.h"
#include "region/state.h"
#include "sys/lookup_mark.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

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

Test(tries, those_of_a_large_share_are_told_apart)
{
	for (uint32_t slot = 3; slot < REGION_DESTINATIONS; slot *= 2) {
		tries_failed(slot, now);
		cr_expect(tries_loop(slot, now), "%u", slot);
		cr_expect_not(tries_loop(slot + REGION_DESTINATIONS / 4, now), "%u", slot);
		cr_expect_not(tries_loop(slot + REGION_DESTINATIONS / 2, now), "%u", slot);
	}
	tries_failed(REGION_DESTINATIONS - 1, now);
	tries_heard(TRIES_NOWHERE);
	cr_expect_not(tries_loop(REGION_DESTINATIONS - 1, now), "something else was done");
}

Test(tries, refusals_are_counted_until_one_goes)
{
	for (int round = 0; round < 2; round++) {
		tries_note(3, now);
		tries_failed(3, now);
		for (int i = 0; i < 5; i++) {
			cr_expect_eq(tries_is_denied(3), i >= 2, "after %d", i);
			tries_note(3, now);
			tries_denied(3, now);
			cr_expect(tries_loop(3, now));
		}
		cr_expect_not(tries_is_denied(4), "of another");
	}
}

Test(tries, are_vain_after_fifteen_failures_without_an_answer)
{
	for (int i = 0; i < 40; i++) {
		cr_expect_eq(tries_are_vain(3), i >= 15, "after %d", i);
		tries_note(3, now);
		tries_denied(3, now);
		tries_note(3, now);
		tries_failed(3, now);
		tries_ended(3, false);
	}
	cr_expect_not(tries_are_vain(4), "of another");
	cr_expect(tries_loop(3, now), "what else is known stays");
	tries_ended(3, true);
	cr_expect_not(tries_are_vain(3));
	cr_expect(tries_loop(3, now));
}

Test(tries, bytes_of_another_end_it_those_of_the_same_do_not)
{
	static struct region region; /* work that is done is counted there */

	shim_use(&region, 0);
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

Test(tries, any_number_of_dead_ones_in_turn_are_swept_once)
{
	int swept = 0;

	for (int turn = 0; turn < 10; turn++)
		for (uint32_t slot = 1; slot <= 30; slot++) {
			now += NS_PER_MS;
			swept += tries_sweep(slot, HORIZON, now);
			tries_note(slot, now);
			tries_failed(slot, now);
		}
	cr_expect_eq(swept, 29, "all but the first, which follows no failure: %d", swept);
	now += 2 * HORIZON;
	cr_expect(tries_sweep(30, HORIZON, now), "in a minute once more");
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

enum { GOES_ON, SPINS, WORKS };

/* A refusal, and what it tells of the thread. */
static int refused(int64_t at)
{
	int64_t own = tries_refused(at);

	return own < 0 ? GOES_ON : tries_may_be_work(own) ? WORKS : SPINS;
}

/* The first of a row, as quick as can be, until one more would be a spin. */
static void refuse_row(void)
{
	for (int i = 0; i < 10; i++)
		cr_expect_eq(refused(now += 1000), GOES_ON, "%d", i);
	cr_expect_eq(refused(now += 1000), WORKS, "one alone may be the machine's");
}

Test(tries, ten_refusals_in_a_row_are_a_spin_and_a_pause_ends_the_row)
{
	refuse_row();
	cr_expect_eq(refused(now += 1000), SPINS);
	tries_held(now += SECONDS(1));
	cr_expect_eq(refused(now += 1000), SPINS, "a hold is no pause of its own");
	cr_expect_eq(refused(now += 50 * NS_PER_MS), GOES_ON);
}

Test(tries, milliseconds_asleep_between_them_may_be_work)
{
	refuse_row();
	cr_expect_eq(refused(now += 2 * NS_PER_MS), WORKS);
	cr_expect_eq(refused(now += 1000), WORKS, "the next may have been late");
	cr_expect_eq(refused(now += 2 * NS_PER_MS), WORKS);
	cr_expect_eq(refused(now += 1000), WORKS);
	cr_expect_eq(refused(now += 1000), SPINS);
}

/* Uses so many ns of a processor. */
static void burn(int64_t ns)
{
	struct timespec used;
	int64_t until = 0;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
		until = until ? until : ns_of(used) + ns;
	} while (ns_of(used) < until);
}

Test(tries, milliseconds_of_a_processor_between_them_are_work_if_something_is_written)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);

	cr_assert(file >= 0);
	refuse_row();
	burn(3 * NS_PER_MS);
	cr_expect_eq(refused(now += 3 * NS_PER_MS), SPINS, "a slow interpreter");
	burn(3 * NS_PER_MS);
	cr_assert_eq(write(file, "xy", 2), 2);
	cr_expect_eq(refused(now += 3 * NS_PER_MS), WORKS);
}

Test(tries, bytes_read_and_written_between_them_may_be_work)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	char bytes[2] = { 0 };

	cr_assert(file >= 0);
	refuse_row();
	cr_expect_eq(refused(now += 1000), SPINS);
	cr_assert_eq(write(file, bytes, 2), 2);
	cr_expect_eq(refused(now += 1000), SPINS, "a line in a log");
	cr_expect_eq(refused(now += 1000), SPINS);
	cr_assert_eq(pread(file, bytes, 2, 0), 2);
	cr_expect_eq(refused(now += 1000), WORKS);
}

Test(tries, many_destinations_fit_by_age)
{
	for (uint32_t slot = 0; slot < 2 * THREAD_TRIES; slot++)
		tries_failed(slot, now += 10 * NS_PER_MS);
	cr_expect_not(tries_loop(0, 1));
	cr_expect(tries_loop(2 * THREAD_TRIES - 1, 1));
	cr_expect(tries_loop(THREAD_TRIES + 1, 1));
}

Test(tries, what_a_lookup_reads_is_no_work)
{
	int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	struct lookup_mark mark;
	char bytes[2] = { 0 };

	cr_assert(file >= 0 && write(file, bytes, 2) == 2);
	refuse_row();
	for (int i = 0; i < 3; i++) {
		thread_lookup_begin(&mark);
		cr_assert_eq(pread(file, bytes, 2, 0), 2);
		thread_lookup_end(&mark);
		cr_expect_eq(refused(now += 1000), SPINS);
	}
	cr_assert_eq(pread(file, bytes, 2, 0), 2);
	thread_lookup_begin(&mark);
	thread_lookup_end(&mark);
	cr_expect_eq(refused(now += 1000), WORKS, "read before it");
}
