/* SPDX-License-Identifier: MIT */
/* A second and a count in one word. */
#include "sys/second_count.h"

#include <criterion/criterion.h>

Test(second_count, a_word_tells_both)
{
	for (int64_t second = 0; second < INT64_C(1) << 39; second = 3 * second + 7)
		for (int64_t count = 0; count <= SECOND_COUNT_MOST; count = 5 * count + 1) {
			int64_t word = second_count(second, count);

			cr_assert_eq(second_of(word), second);
			cr_assert_eq(count_of(word), count);
		}
}

Test(second_count, one_more_is_never_another_second)
{
	int64_t word = second_count(7, SECOND_COUNT_MOST - 1);

	word = second_count_more(word);
	cr_assert_eq(count_of(word), SECOND_COUNT_MOST);
	word = second_count_more(word);
	cr_assert_eq(count_of(word), SECOND_COUNT_MOST);
	cr_assert_eq(second_of(word), 7);
	cr_assert_eq(count_of(second_count_more(0)), 1, "of zeroes");
}

Test(second_count, in_another_second_a_count_begins)
{
	int64_t word = second_count_add(second_count_add(0, 7), 7);

	cr_assert_eq(second_count_at(word, 7), 2);
	cr_assert_eq(second_count_at(word, 8), 0);
	word = second_count_add(word, 8);
	cr_assert_eq(second_count_at(word, 8), 1);
	cr_assert_eq(second_count_at(word, 7), 0);
}
