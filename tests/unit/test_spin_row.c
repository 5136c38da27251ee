/* SPDX-License-Identifier: MIT */
#include "dest/spin_row.h"

#include "sys/arithmetic.h"

#include <criterion/criterion.h>

#define NOW   (INT64_C(1000000) * NS_PER_S)
#define MS(n) ((int64_t)(n)*NS_PER_MS)

static cell64 rows[REGION_KIN_ROWS];

/* Of a process that has just begun. */
static bool refused(uint64_t hash, int64_t now)
{
	return spin_row_refused(rows, hash, now, now);
}

/* Refusals of a row, `gap` ms after the end of the last; held for as long as they are slowed down.
 */
static int spun(int tries, int gap, int held)
{
	int64_t now = NOW;
	int count = 0;

	for (int i = 0; i < tries; i++) {
		if (refused(1, now)) {
			count++;
			now += MS(held);
			spin_row_held(rows, 1, now);
		}
		now += MS(gap);
	}
	return count;
}

static void start(void)
{
	for (int i = 0; i < REGION_KIN_ROWS; i++)
		rows[i] = 0;
}

Test(spin_row, is_one_only_without_a_pause, .init = start)
{
	cr_expect_eq(spun(100, 20, 250), 90, "a shell that forks one after the other");
	start();
	cr_expect_eq(spun(200, 3, 250), 150, "as fast as it can: of six that are close one counts");
	start();
	cr_expect_eq(spun(100, 30, 1000), 90, "the same, parked");
	start();
	cr_expect_eq(spun(100, 105, 250), 0, "one that sleeps a tenth of a second");
}

/* The machine may be busy with nothing else. */
Test(spin_row, that_is_one_ends_by_a_longer_pause, .init = start)
{
	int64_t now = NOW;

	for (int i = 0; i < 11; i++)
		refused(1, now += MS(30));
	for (int i = 0; i < 20; i++)
		cr_expect(refused(1, now += MS(200)), "%d", i);
	cr_expect_not(refused(1, now + MS(260)));
}

Test(spin_row, survives_whatever_was_written_there, .init = start)
{
	const int64_t garbage[] = { INT64_MAX, INT64_MIN, -1, 1, INT64_C(1) << 40 };

	for (size_t g = 0; g < sizeof(garbage) / sizeof(*garbage); g++)
		for (int spins = 0; spins < 2; spins++) {
			for (int i = 0; i < REGION_KIN_ROWS; i++)
				rows[i] = garbage[g];
			cr_expect_eq(spun(100, spins ? 20 : 105, 250), spins ? 90 : 0, "%zu", g);
		}
}

/* One that takes 50 ms to start, of whose tries every fifth goes. */
Test(spin_row, goes_on_where_some_of_its_tries_go, .init = start)
{
	int64_t now = NOW;
	int spun = 0;

	for (int i = 1; i <= 100; i++) {
		now += MS(50);
		if (i % 5 == 0)
			spin_row_failed(rows, 1, now, now + MS(1));
		else
			spun += refused(1, now);
	}
	cr_expect_eq(spun, 70, "%d of 80 refusals", spun);
	now += MS(500);
	spin_row_failed(rows, 1, now, now);
	cr_expect_not(refused(1, now + MS(50)), "after a pause that one of them has ended");
}

Test(spin_row, of_another_lineage_is_another, .init = start)
{
	int spun = 0;

	for (int i = 0; i < 50; i++)
		spun += refused(2, NOW + MS(20 * i));
	cr_expect_eq(spun, 40);
	cr_expect_not(refused(1, NOW + MS(995)));
	/* Nor does it go on by what others do. */
	for (int i = 0; i < 9; i++)
		refused(3, NOW + MS(900 + 20 * i));
	spin_row_held(rows, 2, NOW + MS(1090));
	spin_row_failed(rows, 2, NOW + MS(1090), NOW + MS(1290));
	cr_expect_not(refused(3, NOW + MS(1300)));
}

/* Twenty that are started within 20 ms, and have something else to do before they are refused. Who
 * does that again and again without a pause is a loop. */
Test(spin_row, is_none_of_those_that_start_together, .init = start)
{
	for (int pause = 0; pause < 2; pause++) {
		start();
		for (int round = 0; round < 20; round++)
			for (int i = 0; i < 20; i++) {
				int64_t now = NOW + MS((pause ? 1000 : 70) * round + i);

				cr_expect_eq(spin_row_refused(rows, 1, now, now + MS(30)),
				             !pause && round >= 10, "round %d, %d", round, i);
			}
	}
}

/* In the background: some have ended while the shell still starts others. */
Test(spin_row, is_none_of_a_burst_in_which_some_end_early, .init = start)
{
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 20; i++) {
			int64_t now = NOW + MS(1000 * round + 5 * i);

			cr_expect_not(refused(1, now), "round %d, %d", round, i);
		}
}

/* xargs -P 8: in the place of each that ends another starts. */
Test(spin_row, is_one_of_eight_loops_side_by_side, .init = start)
{
	int spun = 0;

	for (int i = 0; i < 800; i++)
		spun += spin_row_refused(rows, 1, NOW + MS(5 * i), NOW + MS(5 * i + 40));
	cr_expect_geq(spun, 700, "%d of 800", spun);
}

/* Interpreters, or any program on a busy machine: each takes longer to come to its try than a
 * pause. */
Test(spin_row, is_one_of_thirty_loops_of_programs_that_start_slowly, .init = start)
{
	int spun = 0;

	for (int i = 0; i < 3000; i++)
		spun += spin_row_refused(rows, 1, NOW + MS(4 * i), NOW + MS(4 * i + 120));
	cr_expect_geq(spun, 2500, "%d of 3000", spun);
}

/* One that does something for a second first does not spin, and its row is over. */
Test(spin_row, is_none_of_what_takes_its_time, .init = start)
{
	for (int i = 0; i < 100; i++)
		cr_expect_not(
		    spin_row_refused(rows, 1, NOW + MS(1000 * i), NOW + MS(1000 * i + 990)));
}

/* Those that find no place have one together, and are slowed down sooner rather than never. */
Test(spin_row, is_seen_of_each_of_a_hundred, .init = start)
{
	int spun[100] = { 0 };

	for (int i = 0; i < 1000; i++)
		for (uint64_t hash = 0; hash < 100; hash++)
			spun[hash] += refused(hash, NOW + MS(20 * i));
	for (int hash = 0; hash < 100; hash++)
		cr_expect_geq(spun[hash], 990, "%d: %d of 1000", hash, spun[hash]);
	/* The places are free again. */
	for (uint64_t hash = 100; hash < 100 + REGION_KIN_ROWS; hash++)
		cr_expect_not(refused(hash, NOW + MS(40000)));
}
