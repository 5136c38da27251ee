/* SPDX-License-Identifier: MIT */
/* Tokens divided among many who want them. */
#include "sys/random.h"
#include "tool/fair.h"

#include <criterion/criterion.h>
#include <string.h>

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

/* As shim/agent/lending.c asks round after round: in the same order. */
Test(fair, of_more_users_than_there_is_room_for_all_get_something)
{
	static struct claim claims[2000];
	static const size_t counts[] = { 65, 200, FAIR_USERS, FAIR_USERS + 1, 2000 };

	for (size_t n = 0; n < sizeof(counts) / sizeof(*counts); n++) {
		const size_t count = counts[n];
		const int64_t tokens = (int64_t)(count * FAIR_USERS);

		for (size_t i = 0; i < count; i++)
			claims[i] = (struct claim) { .user = (uid_t)i, .wants = INT64_MAX };
		cr_expect_eq(fair_divide(claims, count, tokens, 3), tokens);
		for (size_t i = 0; i < count; i++)
			cr_expect_gt(claims[i].gets, 0, "%zu of %zu", i, count);
		for (size_t i = 0; i < count; i++)
			claims[i].wants = 1;
		cr_expect_eq(fair_divide(claims, count, tokens, 3), (int64_t)count);
		for (size_t i = 0; i < count; i++)
			cr_expect_eq(claims[i].gets, 1, "%zu of %zu", i, count);
	}
}

static struct claim waiting[FAIR_USERS + 4];

/* Rounds of one token each, in which so many wait. Of each how often it got that. */
static void play(size_t count, uint64_t rounds, int64_t *times)
{
	memset(times, 0, count * sizeof(*times));
	for (uint64_t turn = 0; turn < rounds; turn++) {
		(void)fair_divide(waiting, count, 1, turn);
		for (size_t i = 0; i < count; i++)
			times[i] += waiting[i].gets;
	}
}

Test(fair, of_too_little_everybody_has_his_turn)
{
	enum { COUNT = FAIR_USERS + 4 };
	static int64_t times[COUNT];

	for (size_t i = 0; i < COUNT; i++)
		waiting[i] = (struct claim) { .user = (uid_t)i, .wants = 1 };
	play(COUNT, FAIR_USERS * 5, times);
	for (size_t i = 0; i < COUNT; i++)
		cr_expect_eq(times[i], i < FAIR_USERS - 1 ? 5 : 1, "%zu: %d", i, (int)times[i]);
}

/* The cells of a user stand wherever their programs do. */
Test(fair, of_one_user_all_cells_have_their_turn)
{
	int64_t times[100];

	for (size_t i = 0; i < 100; i++)
		waiting[i] = (struct claim) { .user = i == 7 || i == 8 || i == 60, .wants = 1 };
	play(100, 600, times);
	cr_expect_eq(times[7], 100);
	cr_expect_eq(times[8], 100);
	cr_expect_eq(times[60], 100);
}
