/* SPDX-License-Identifier: MIT */
/*
 * Every interleaving of two threads on one bucket (interleave.h), and one of them killed after each
 * of its steps.
 */
#ifndef __SANITIZE_THREAD__

/* Beside the bucket that the other tests are linked with. */
#define bucket_start    stepped_start
#define bucket_peek     stepped_peek
#define bucket_level    stepped_level
#define bucket_withdraw stepped_withdraw
#define bucket_deposit  stepped_deposit
#define bucket_drain    stepped_drain
#define bucket_wait     stepped_wait
#include "budget_fixture.h"
#include "interleave.h"

#undef atomic_load_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong_explicit
#define atomic_load_explicit(cell, order) load(cell)
#define atomic_compare_exchange_weak_explicit(cell, seen, next, won, lost)                         \
	compare_exchange(cell, seen, next)
#define atomic_compare_exchange_strong_explicit(cell, seen, next, won, lost)                       \
	compare_exchange(cell, seen, next)
#include "../../shim/budget/bucket.c"

/* What one thread does: pays, and gives back if `refund`. */
static struct actor {
	struct bucket_rule rule;
	int64_t cost, now;
	bool refund;
	int64_t kept; /* mt it has in its hands in the end */
	bool refused;
} actors[2];

static const struct bucket *first;
static struct bucket bucket;

static void act(int who)
{
	struct actor *me = &actors[who];
	int64_t taken = bucket_withdraw(&bucket, &me->rule, me->cost, me->now);

	me->refused = taken < 0;
	if (!me->refused)
		me->kept = taken;
	if (!me->refused && me->refund) {
		bucket_deposit(&bucket, &me->rule, taken);
		me->kept = 0;
	}
}

static void prepare(void)
{
	memcpy(&bucket, first, sizeof(bucket));
	for (int i = 0; i < 2; i++) {
		actors[i].refused = false;
		actors[i].kept = 0;
	}
}

/* Runs every schedule of actors[] on a copy of `from`, and asks `check` after each. */
static int walk(const struct bucket *from, int lives, void (*check)(void))
{
	first = from;
	return walk_schedules(act, lives, prepare, check);
}

static void cast(struct bucket_rule rule, bool refund)
{
	for (int i = 0; i < 2; i++)
		actors[i] = (struct actor) { .rule = rule,
			                     .cost = 1000,
			                     .now = START_OF_TIME + SECONDS(1),
			                     .refund = refund };
}

static int64_t in_hands(void)
{
	return actors[0].kept + actors[1].kept;
}

static void expect_both_paid(void)
{
	cr_assert(!actors[0].refused && !actors[1].refused, "a new bucket looked empty");
	cr_assert_eq(bucket_peek(&bucket, &actors[0].rule), 0);
}

static void expect_one_token_in_all(void)
{
	/* A rival with an earlier clock may have paid a part: the rest is still to come. */
	cr_assert_eq(in_hands() + bucket_level(&bucket, &actors[0].rule, actors[0].now), 1000);
}

static void expect_valid(void)
{
	/* Of a killed thread's steps any share may have happened, but none twice. */
	int64_t level = bucket_peek(&bucket, &actors[1].rule);

	cr_assert(level >= 0 && level + actors[1].kept <= 1000, "%ld", (long)level);
	cr_assert_gt(bucket_withdraw(&bucket, &actors[1].rule, 1000, START_OF_TIME + SECONDS(3)), 0,
	             "what is left works");
}

Test(interleave, a_new_bucket_never_looks_empty)
{
	static const struct bucket fresh;

	cast((struct bucket_rule) { .capacity = 2000, .start = PPM_WHOLE }, false);
	cr_expect_gt(walk(&fresh, FOREVER, expect_both_paid), 200);
}

Test(interleave, tokens_are_neither_lost_nor_doubled)
{
	static const struct bucket fresh;
	struct bucket empty = { 0 };

	/* One token for two, taken and given back. */
	cast((struct bucket_rule) { .capacity = 1000, .start = PPM_WHOLE }, true);
	actors[1].refund = false;
	cr_expect_gt(walk(&fresh, FOREVER, expect_one_token_in_all), 500);

	/* The floor has just paid one, and one thread's clock is late. */
	cast((struct bucket_rule) { .capacity = 2000, .floor = 1000 }, false);
	bucket_start(&empty, &actors[0].rule, START_OF_TIME);
	actors[0].refund = true;
	cr_expect_gt(walk(&empty, FOREVER, expect_one_token_in_all), 500);
	actors[1].now -= SECONDS(0.4);
	cr_expect_gt(walk(&empty, FOREVER, expect_one_token_in_all), 500);
}

Test(interleave, a_changed_capacity_is_followed_by_both)
{
	struct bucket half = { 0 };

	cast((struct bucket_rule) { .capacity = 2000, .start = 500000 }, true);
	bucket_start(&half, &(struct bucket_rule) { .capacity = 50000, .start = 500000 },
	             START_OF_TIME);
	cr_expect_gt(walk(&half, FOREVER, expect_one_token_in_all), 500);
}

Test(interleave, a_kill_at_any_step_leaves_a_valid_bucket)
{
	static const struct bucket fresh;
	struct bucket empty = { 0 };

	for (int lives = 0; lives < 12; lives++) {
		cast((struct bucket_rule) { .capacity = 1000, .floor = 1000, .start = PPM_WHOLE },
		     true);
		walk(&fresh, lives, expect_valid);
		cast((struct bucket_rule) { .capacity = 1000, .floor = 1000 }, true);
		bucket_start(&empty, &actors[0].rule, START_OF_TIME);
		walk(&empty, lives, expect_valid);
	}
}

#endif
