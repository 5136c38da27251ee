/* SPDX-License-Identifier: MIT */
/* Counting over a moving window: what is counted, what is forgotten, and what no bit pattern can
 * do. */
#include "budget_fixture.h"
#include "budget/slices.h"

#define WINDOW SECONDS(10)

static struct slices ring;

static void clear(void)
{
	memset(&ring, 0, sizeof(ring));
}

Test(slices, what_is_counted_stays_for_a_window_and_no_longer)
{
	for (int64_t at = 0; at < SECONDS(1); at += 37 * NS_PER_MS) {
		clear();
		slices_add(&ring, WINDOW, 5, START_OF_TIME + at);
		cr_expect_eq(slices_within(&ring, WINDOW, START_OF_TIME + at), 5);
		cr_expect_eq(slices_within(&ring, WINDOW, START_OF_TIME + at + SECONDS(9) - 1), 5);
		cr_expect_eq(slices_within(&ring, WINDOW, START_OF_TIME + at + SECONDS(10)), 0);
		cr_expect_eq(slices_covering(&ring, WINDOW, START_OF_TIME + at + SECONDS(10)), 5);
		cr_expect_eq(slices_covering(&ring, WINDOW, START_OF_TIME + at + SECONDS(11)), 0);
	}
}

/* Against a list of everything that happened. */
Test(slices, a_random_schedule_is_counted_between_its_bounds)
{
	static struct {
		int64_t at, n;
	} log[4000];
	uint64_t random = 5;
	int64_t now = START_OF_TIME;

	clear();
	for (int i = 0; i < 4000; i++) {
		int64_t least = 0, most = 0;

		now += random_upto(&random, random_upto(&random, 99) ? SECONDS(0.1) : SECONDS(20));
		log[i].at = now;
		log[i].n = random_upto(&random, 1000);
		slices_add(&ring, WINDOW, log[i].n, now);
		for (int j = i; j >= 0; j--) {
			least += log[j].at > now - WINDOW + WINDOW / SLICES ? log[j].n : 0;
			most += log[j].at > now - WINDOW ? log[j].n : 0;
		}
		cr_assert_geq(slices_within(&ring, WINDOW, now), least, "%d", i);
		cr_assert_leq(slices_within(&ring, WINDOW, now), most, "%d", i);
		cr_assert_geq(slices_covering(&ring, WINDOW, now), most, "%d", i);
	}
}

Test(slices, sums_change_only_where_a_slice_begins)
{
	uint64_t random = 8;
	int64_t now = START_OF_TIME;

	clear();
	for (int i = 0; i < 2000; i++) {
		int64_t turn, before;

		now += random_upto(&random, SECONDS(2));
		slices_add(&ring, WINDOW, 1, now);
		turn = now + slices_until(WINDOW, 1, now);
		before = slices_within(&ring, WINDOW, now);
		cr_assert(turn > now && turn - now <= WINDOW / SLICES);
		cr_assert_eq(turn % (WINDOW / SLICES), 0);
		cr_assert_eq(slices_within(&ring, WINDOW, turn - 1), before);
		cr_assert_eq(slices_within(&ring, WINDOW, turn),
		             slices_sum(&ring, WINDOW, -1, SLICES - 2, now));
		cr_assert_eq(slices_until(WINDOW, 3, now), turn - now + 2 * (WINDOW / SLICES));
	}
}

Test(slices, taking_away_finds_the_newest_and_stops_at_nothing)
{
	clear();
	slices_add(&ring, WINDOW, 3, START_OF_TIME);
	slices_add(&ring, WINDOW, 4, START_OF_TIME + SECONDS(2));
	slices_undo(&ring, 5);
	cr_expect_eq(slices_within(&ring, WINDOW, START_OF_TIME + SECONDS(9)), 2);
	cr_expect_eq(slices_within(&ring, WINDOW, START_OF_TIME + SECONDS(10.5)), 0,
	             "the newer went first");
	slices_undo(&ring, INT64_MAX);
	cr_expect_eq(slices_covering(&ring, WINDOW, START_OF_TIME + SECONDS(2)), 0);
	slices_add(&ring, WINDOW, 2, START_OF_TIME);
	slices_add(&ring, WINDOW, INT64_MIN, START_OF_TIME);
	cr_expect_eq(slices_covering(&ring, WINDOW, START_OF_TIME), 0);
	clear();
	slices_add(&ring, WINDOW, -1, 0);
	cr_expect_eq(slices_covering(&ring, WINDOW, 0), 0, "at boot, too");
	slices_add(&ring, WINDOW, -1, START_OF_TIME + SECONDS(30));
	cr_expect_eq(slices_covering(&ring, WINDOW, START_OF_TIME + SECONDS(30)), 0);
}

Test(slices, counts_stop_at_their_bound)
{
	clear();
	for (int i = 0; i < 12; i++)
		for (int j = 0; j < 3; j++)
			slices_add(&ring, WINDOW, INT64_MAX, START_OF_TIME + SECONDS(i));
	cr_expect_eq(slices_within(&ring, WINDOW, START_OF_TIME + SECONDS(11)),
	             SLICES * SLICE_COUNT_MAX);
}

/* Stopped between its clock and here for so long that a rival is a lap ahead. */
Test(slices, one_who_is_late_does_not_erase_what_is_newer)
{
	int64_t lap = SLICES_RING * (WINDOW / SLICES);

	clear();
	slices_add(&ring, WINDOW, 7, START_OF_TIME + lap);
	slices_add(&ring, WINDOW, 2, START_OF_TIME);
	cr_expect_eq(slices_within(&ring, WINDOW, START_OF_TIME + lap), 9);
}

Test(slices, any_bit_pattern_and_any_time_are_valid)
{
	static const int64_t times[] = { INT64_MIN,     -1,       0, 1, START_OF_TIME,
		                         INT64_MAX - 1, INT64_MAX };
	static const int64_t windows[] = { INT64_MIN, 0, 1, SECONDS(1), SECONDS(3600), INT64_MAX };
	uint64_t random = 99;

	for (int round = 0; round < 3000; round++) {
		int64_t window = windows[round % 6], now = times[round % 7], sum;

		for (int i = 0; i < SLICES_RING; i++)
			ring.cells[i] = round % 3 ? (int64_t)random_next(&random) : -1;
		slices_add(&ring, window, random_upto(&random, 5000) - 2500, now);
		slices_undo(&ring, random_upto(&random, INT64_MAX - 1));
		sum = slices_covering(&ring, window, now);
		cr_assert(sum >= 0 && sum <= SLICES_RING * SLICE_COUNT_MAX);
		cr_assert_geq(slices_until(window, 1, now), 1);
		cr_assert_leq(slices_until(window, 1, now), WINDOW_MAX / SLICES);
	}
	/* And it heals: after two windows only what is counted from then on counts. */
	for (int64_t now = START_OF_TIME; now < START_OF_TIME + SECONDS(24); now += SECONDS(0.5))
		slices_add(&ring, WINDOW, 1, now);
	cr_expect_eq(slices_within(&ring, WINDOW, START_OF_TIME + SECONDS(23.5)), 20);
}

static void count_on(struct racer *racer)
{
	pthread_barrier_wait(racer->line);
	for (int i = 0; i < 100000; i++)
		slices_add(racer->shared, WINDOW, 1, START_OF_TIME + i * (SECONDS(9) / 100000));
}

Test(slices, threads_lose_no_count)
{
	clear();
	race(count_on, &ring);
	cr_expect_eq(slices_covering(&ring, WINDOW, START_OF_TIME + SECONDS(9)), RACERS * 100000);
}
