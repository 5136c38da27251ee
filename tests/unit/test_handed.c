/* SPDX-License-Identifier: MIT */
/* Who is handed requests that another thread reads. */
#include "dest/handed.h"
#include "sys/arithmetic.h"
#include "sys/random.h"

#include <criterion/criterion.h>

#define THREAD 77
#define MS     NS_PER_MS

/* A thread tries `delay` after each of n requests, of which there are 100 a second. */
static uint64_t handed(uint64_t known, int64_t *now, int64_t delay, int n)
{
	for (int i = 0; i < n; i++) {
		*now += 10 * MS;
		known = handed_after(known, THREAD, *now, 100, *now + delay);
	}
	return known;
}

Test(handed, who_tries_soon_after_each_request_is_known_after_a_few)
{
	int64_t now = NS_PER_S;
	uint64_t known = handed(0, &now, MS, 3);

	cr_expect_not(handed_is_known(known, THREAD));
	known = handed(known, &now, MS, 1);
	cr_expect(handed_is_known(known, THREAD));
	cr_expect_not(handed_is_known(known, THREAD + 1), "another has its place");
	cr_expect_eq(handed_after(known, THREAD + 1, now, 100, now) >> 32, THREAD + 1);
	known = handed(known, &now, 4 * MS, 1);
	cr_expect_not(handed_is_known(known, THREAD));
}

Test(handed, who_tries_for_long_may_be_late_at_times)
{
	int64_t now = NS_PER_S;
	uint64_t known = handed(0, &now, MS, 1000);

	for (int i = 0; i < 10; i++) {
		known = handed(known, &now, 4 * MS, 3);
		cr_expect(handed_is_known(known, THREAD));
		known = handed(known, &now, MS, 10);
	}
	known = handed(known, &now, 4 * MS, 8);
	cr_expect_not(handed_is_known(known, THREAD));
}

Test(handed, one_request_is_for_one_try_that_tells)
{
	int64_t now = NS_PER_S;
	uint64_t known = 0;

	known = handed(known, &now, 0, 1);
	for (int j = 0; j < 100; j++)
		known = handed_after(known, THREAD, now, 100, now + j);
	cr_expect_not(handed_is_known(known, THREAD));
	for (int i = 0; i < 10; i++) {
		known = handed(known, &now, MS, 1);
		known = handed_after(known, THREAD, now, 100, now + 2 * MS);
	}
	cr_expect(handed_is_known(known, THREAD), "it tries each twice");
}

Test(handed, a_loop_without_a_pause_is_not)
{
	int64_t now = NS_PER_S;
	uint64_t known = 0;

	for (int i = 0; i < 100; i++) {
		known = handed(known, &now, 0, 1);
		for (int64_t after = 0; after < 10 * MS; after += MS / 10)
			known = handed_after(known, THREAD, now, 100, now + after);
		cr_expect_not(handed_is_known(known, THREAD));
	}
}

/* A loop that pauses for 37 ms beside them. */
Test(handed, a_loop_meets_a_request_by_chance)
{
	static const int64_t rates[] = { 5, 20, 100, 400, 1000, 2000, 20000 };

	for (size_t r = 0; r < sizeof(rates) / sizeof(*rates); r++) {
		int64_t now = NS_PER_S, spacing = NS_PER_S / rates[r];
		uint64_t known = 0, dice = 7;
		int believed = 0;

		for (int i = 0; i < 10000; i++) {
			int64_t ago = (int64_t)(random_next(&dice) % (uint64_t)spacing);

			now += 37 * MS;
			known = handed_after(known, THREAD, now - ago, rates[r], now);
			believed += handed_is_known(known, THREAD);
		}
		cr_expect_lt(believed, 100, "%d of 10,000 beside %d a second", believed,
		             (int)rates[r]);
	}
}

Test(handed, without_requests_nobody_is)
{
	uint64_t known = 0;

	for (int64_t now = 1; now < 100 * MS; now += MS)
		known = handed_after(known, THREAD, 0, 0, now);
	cr_expect_not(handed_is_known(known, THREAD));
	/* A later clock of another processor, and garbage. */
	for (int i = 0; i < 100; i++)
		known = handed_after(~UINT64_C(0), THREAD, INT64_MAX, INT64_MAX, i);
	cr_expect_not(handed_is_known(known, THREAD));
}
