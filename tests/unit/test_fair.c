/* SPDX-License-Identifier: MIT */
/* Tokens divided among many who want them. */
#include "sys/random.h"
#include "tool/fair.h"

#include <criterion/criterion.h>

Test(fair, nobody_gets_more_than_he_wants_nor_than_who_wants_more)
{
	uint64_t seed = 5;

	for (int play = 0; play < 5000; play++) {
		struct claim claims[12];
		size_t count = 1 + (size_t)random_upto(&seed, 11);
		int64_t tokens = random_upto(&seed, 60), sum = 0, wanted = 0, given;

		for (size_t i = 0; i < count; i++) {
			claims[i] = (struct claim) { .user = (uid_t)i, /* each his own */
				                     .wants = random_upto(&seed, 12) };
			wanted += claims[i].wants;
		}
		given = fair_divide(claims, count, tokens, (uint64_t)play);
		for (size_t i = 0; i < count; i++) {
			sum += claims[i].gets;
			cr_assert(claims[i].gets >= 0 && claims[i].gets <= claims[i].wants);
			for (size_t j = 0; j < count; j++)
				cr_assert(claims[i].gets <= claims[j].gets + 1 ||
				              claims[j].gets == claims[j].wants,
				          "play %d", play);
		}
		cr_assert_eq(sum, given);
		cr_assert_eq(given, lesser(tokens, wanted), "play %d", play);
	}
}

Test(fair, of_more_users_than_there_is_room_for_all_get_something)
{
	struct claim claims[200];

	for (size_t i = 0; i < 200; i++)
		claims[i] = (struct claim) { .user = (uid_t)i, .wants = INT64_MAX };
	cr_expect_eq(fair_divide(claims, 200, 10000, 3), 10000);
	cr_expect_gt(claims[0].gets, 0);
}
