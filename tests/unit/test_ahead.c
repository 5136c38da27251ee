/* SPDX-License-Identifier: MIT */
/* How far a thread is ahead of what real failures would have taken. */
#include "pace/ahead.h"
#include "track_fixture.h"

#define MS NS_PER_MS

TestSuite(ahead, .init = start_shim);

static int64_t refused(int64_t failing, int64_t now)
{
	ahead_refused(failing, now);
	return ahead_at(now);
}

Test(ahead, refusals_without_a_pause_add_up)
{
	int64_t now = 500 * NS_PER_S;
	int spared = 0;

	while (refused(300 * MS, now) <= AHEAD_LEEWAY && spared < 100)
		spared++;
	cr_expect_eq(spared, 6, "two seconds' worth: %d", spared);
	cr_expect_eq(refused(300 * MS, now + 300 * MS), 2100 * MS, "who waits as long stays there");
	cr_expect_eq(ahead_at(now + 60 * NS_PER_S), 0, "a pause ends it");
}

Test(ahead, who_takes_as_long_as_a_failure_is_not)
{
	for (int64_t now = 500 * NS_PER_S; now < 600 * NS_PER_S; now += 300 * MS)
		cr_assert_eq(refused(300 * MS, now), 300 * MS);
}

Test(ahead, a_failure_that_takes_no_time_spares_none)
{
	for (int i = 0; i < 10000; i++)
		cr_assert_eq(refused(50000, 500 * NS_PER_S), 0);
}

Test(ahead, is_bounded_whatever_is_known)
{
	int64_t most = 0;

	for (int i = 0; i < 100; i++)
		most = greater(most, refused(3600 * NS_PER_S, 500 * NS_PER_S));
	cr_expect_leq(most, 5 * NS_PER_S);
	cr_expect_eq(refused(INT64_MAX, 600 * NS_PER_S), 0, "nobody knows");
	thread_mine()->back_at = 12345; /* of another boot, or of weeks ago */
	cr_expect_eq(refused(INT64_MAX, INT64_C(9000000) * NS_PER_S), 0);
}

Test(ahead, who_does_not_wait_for_a_parked_connect_is_parked_once)
{
	struct attempt try = { .fd = 100 };
	int64_t now = 500 * NS_PER_S;
	int parked = 0;

	for (int i = 0; i < 40; i++, now += 250 * MS) { /* its own timeout */
		ahead_refused(NS_PER_S, now);
		if (ahead_parks(&try, now)) {
			ahead_parked(&try, now);
			parked++;
		}
	}
	cr_expect_geq(parked, 30, "%d", parked);
	ahead_refused(NS_PER_S, now);
	cr_expect(ahead_parks(&try, now));
	ahead_parked(&try, now);
	ahead_refused(NS_PER_S, now);
	cr_expect_not(ahead_parks(&try, now));
	now += 60 * NS_PER_S;
	for (int i = 0; i < 40; i++) {
		ahead_refused(NS_PER_S, now);
		cr_expect_not(ahead_parks(&try, now));
	}
}
