/* SPDX-License-Identifier: MIT */
/* Arithmetic that ends at its bounds, and does not overflow. */
#include "sys/arithmetic.h"

#include <criterion/criterion.h>

Test(arithmetic, bounds_are_kept)
{
	cr_expect_eq(lesser(-1, 2), -1);
	cr_expect_eq(greater(-1, 2), 2);
	cr_expect_eq(within(-5, 0, 9), 0);
	cr_expect_eq(within(10, 0, 9), 9);
	cr_expect_eq(within(7, 0, 9), 7);
}

Test(arithmetic, a_moment_far_ahead_is_the_last)
{
	cr_expect_eq(later(5, 6), 11);
	cr_expect_eq(later(5, INT64_MAX - 5), INT64_MAX);
	cr_expect_eq(later(5, INT64_MAX), INT64_MAX);
	cr_expect_eq(ns_of((struct timespec) { .tv_sec = 2, .tv_nsec = 3 }), 2 * NS_PER_S + 3);
}

/* What is added may come from shared memory. */
Test(arithmetic, a_sum_of_counts_never_falls)
{
	int64_t sum = 5;

	add_to(&sum, 6);
	cr_expect_eq(sum, 11);
	add_to(&sum, -1);
	add_to(&sum, INT64_MIN);
	cr_expect_eq(sum, 11);
	add_to(&sum, INT64_MAX - 11);
	cr_expect_eq(sum, INT64_MAX);
	add_to(&sum, INT64_MAX);
	cr_expect_eq(sum, INT64_MAX);
}
