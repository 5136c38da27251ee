/* SPDX-License-Identifier: MIT */
/* How long a streak has been held back: waits that overlap count once. */
#include "budget_fixture.h"

#include "budget/hold.h"

#define DEADLINE SECONDS(10)
#define AT(n)    (START_OF_TIME + SECONDS(n))

Test(hold, has_no_bound_without_a_deadline)
{
	struct hold hold = { 0 };

	hold_begin(&hold, AT(0), AT(100), SECONDS(100));
	cr_expect_eq(hold_left(&hold, 0), INT64_MAX);
}

Test(hold, adds_up_the_waits_of_one_caller)
{
	struct hold hold = { 0 };

	cr_expect_eq(hold_left(&hold, DEADLINE), DEADLINE);
	hold_begin(&hold, AT(0), AT(3), DEADLINE);
	hold_begin(&hold, AT(5), AT(9), DEADLINE);
	cr_expect_eq(hold_left(&hold, DEADLINE), SECONDS(3));
	hold_begin(&hold, AT(20), AT(25), DEADLINE);
	cr_expect_eq(hold_left(&hold, DEADLINE), 0);
}

Test(hold, counts_waits_that_overlap_once)
{
	struct hold hold = { 0 };

	for (int i = 0; i < 100; i++)
		hold_begin(&hold, AT(0), AT(2), DEADLINE);
	hold_begin(&hold, AT(1), AT(3), DEADLINE);
	hold_begin(&hold, AT(1), AT(2), DEADLINE);
	cr_expect_eq(hold_left(&hold, DEADLINE), SECONDS(7));
}

Test(hold, takes_back_what_a_wait_had_left)
{
	struct hold hold = { 0 };

	hold_begin(&hold, AT(0), AT(8), DEADLINE);
	hold_cut(&hold, AT(8), AT(2));
	cr_expect_eq(hold_left(&hold, DEADLINE), SECONDS(8));
	hold_begin(&hold, AT(2), AT(3), DEADLINE);
	cr_expect_eq(hold_left(&hold, DEADLINE), SECONDS(7));
}

Test(hold, keeps_what_another_waits_for)
{
	struct hold hold = { 0 };

	hold_begin(&hold, AT(0), AT(4), DEADLINE);
	hold_begin(&hold, AT(0), AT(8), DEADLINE);
	hold_cut(&hold, AT(4), AT(1));
	cr_expect_eq(hold_left(&hold, DEADLINE), SECONDS(2));
}

Test(hold, cut_late_changes_nothing)
{
	struct hold hold = { 0 };

	hold_begin(&hold, AT(0), AT(4), DEADLINE);
	hold_cut(&hold, AT(4), AT(5));
	cr_expect_eq(hold_left(&hold, DEADLINE), SECONDS(6));
}

Test(hold, begins_anew_with_a_streak)
{
	struct hold hold = { 0 };

	hold_begin(&hold, AT(0), AT(9), DEADLINE);
	hold_end(&hold);
	hold_cut(&hold, AT(9), AT(1));
	cr_expect_eq(hold_left(&hold, DEADLINE), DEADLINE);
	hold_begin(&hold, AT(2), AT(3), DEADLINE);
	cr_expect_eq(hold_left(&hold, DEADLINE), SECONDS(9));
}

Test(hold, ends_with_the_streak_it_is_of)
{
	struct world world;

	world_start(&world, 1);
	budget_failure(&world.account, false, AT(0), &world.random);
	hold_begin(&world.budget.hold, AT(0), AT(9), DEADLINE);
	budget_failure(&world.account, true, AT(9), &world.random);
	cr_expect_eq(hold_left(&world.budget.hold, DEADLINE), SECONDS(1));
	budget_success(&world.account, AT(10));
	cr_expect_eq(hold_left(&world.budget.hold, DEADLINE), DEADLINE);
}

Test(hold, stands_any_bit_pattern)
{
	static const int64_t wild[] = { INT64_MIN, -1, 1, INT64_MAX - 1, INT64_MAX };

	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 5; j++) {
			struct hold hold = { .spent = wild[i], .until = wild[j] };
			int64_t left = hold_left(&hold, DEADLINE);

			cr_expect(left >= 0 && left <= DEADLINE);
			hold_begin(&hold, AT(0), AT(1), DEADLINE);
			hold_cut(&hold, AT(1), AT(0));
			left = hold_left(&hold, DEADLINE);
			cr_expect(left >= 0 && left <= DEADLINE);
		}
}

/* Nor is a streak held back for longer, whatever stood there. */
Test(hold, of_any_bit_pattern_ends_with_the_deadline)
{
	static const int64_t wild[] = { INT64_MIN,     -1,       1, AT(15), AT(24 * 3600),
		                        INT64_MAX - 1, INT64_MAX };
	const size_t n = sizeof(wild) / sizeof(*wild);

	for (size_t i = 0; i < n * n; i++) {
		struct hold hold = { .spent = wild[i / n], .until = wild[i % n] };

		for (int s = 0; s < 10; s++)
			hold_begin(&hold, AT(s), AT(s + 1), DEADLINE);
		cr_expect_eq(hold_left(&hold, DEADLINE), 0, "round %zu", i);
	}
}
