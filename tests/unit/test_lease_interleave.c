/* SPDX-License-Identifier: MIT */
/*
 * Every interleaving of two who spend of one lease, and of one who spends with the daemon, which
 * writes its words in any order; and one of them killed after each of its steps. A step is a look
 * at, or a change of, a word that can differ: the others of a cell stand for them.
 */
#ifndef __SANITIZE_THREAD__

/* Beside those that the other tests are linked with. */
#define lease_label          stepped_lease_label
#define lease_check          stepped_lease_check
#define lease_read           stepped_lease_read
#define lease_spend          stepped_lease_spend
#define lease_return         stepped_lease_return
#define lease_probe          stepped_lease_probe
#define leased_probe         stepped_leased_probe
#define leased_probe_wait    stepped_leased_probe_wait
#define leased_override_wait stepped_leased_override_wait
#define leased_has_news      stepped_leased_has_news
#define strategy_lease       stepped_strategy_lease
#define leased_lives         stepped_leased_lives
#define lease_compose        stepped_lease_compose
#define lease_spent          stepped_lease_spent
#define lease_probed         stepped_lease_probed
#include "budget_fixture.h"
#include "interleave.h"

#include "budget/gate.h"
#include "budget/lease_cell.h"
#include "budget/strategy.h"

static struct world world;

static bool is_watched(const cell64 *cell)
{
	const struct lease *lease = &world.budget.lease;

	return cell == &lease->check || cell == &lease->tokens || cell == &lease->amount ||
	       cell == &lease->spent || cell == &lease->alone;
}

static inline int64_t look_at(const cell64 *cell)
{
	return is_watched(cell) ? load(cell) : *cell;
}

static inline bool swap(cell64 *cell, int64_t from, int64_t to)
{
	return compare_exchange(cell, &from, to);
}

#undef LOAD
#define LOAD(place)                 look_at(&(place))
#define cell_swap(cell, from, next) swap(cell, from, next)
#include "../../shim/budget/lease_cell.c"
#include "../../shim/budget/leased.c"
#include "../../shim/region/lease.c"

#define LABEL "orders-db"
#define BOOT  START_OF_TIME

static struct lease *const cell = &world.budget.lease;
static int64_t first_amount, next_amount, seen;
static int order; /* which of the daemon's pieces comes first */
static int took[2];

static void write_words(int64_t amount, bool stepped)
{
	struct lease words = { .check = 0 }, look;
	const struct lease_grant grant = { .until = BOOT + SECONDS(10), .tokens = amount };
	static const size_t ends[] = { 0, offsetof(struct lease, tokens),
		                       offsetof(struct lease, amount), LEASE_BYTES };

	if (stepped)
		step();
	memcpy(&look, cell, sizeof(look));
	seen = look.spent;
	lease_compose(&words, &look, LABEL, &grant);
	for (int i = 0; i < 3; i++) {
		int piece = (i + order) % 3;

		if (stepped)
			step();
		memcpy((char *)cell + ends[piece], (char *)&words + ends[piece],
		       ends[piece + 1] - ends[piece]);
	}
}

static void prepare(void)
{
	world_start(&world, 1);
	world.policy.leased = 1;
	world.policy.label = lease_label(LABEL);
	world.policy.fleet_n_max = 3;
	cell->spent = 70000;
	write_words(first_amount, false);
	took[0] = took[1] = 0;
}

static void spend_one(int who)
{
	took[who] += lease_spend(cell, world.policy.label, 1000, BOOT) == 1000;
}

static void spend_and_return(int who)
{
	spend_one(who);
	if (who == 0 && took[0]) {
		lease_return(cell, world.policy.label, 1000);
		took[0] = 0;
	}
}

static void spend_or_write(int who)
{
	if (who == 1) {
		write_words(next_amount, true);
		return;
	}
	spend_one(who);
	spend_one(who);
}

static int64_t spent_now(void)
{
	return cell->spent - 70000;
}

static void expect_one(void)
{
	cr_assert_eq(took[0] + took[1], 1);
	cr_assert_eq(spent_now(), 1000);
}

static void expect_all_counted(void)
{
	cr_assert_eq(spent_now(), (took[0] + took[1]) * 1000);
	cr_assert_leq(spent_now(), first_amount);
}

/* Of what had been granted before, or is now, the larger: never the sum. */
static void expect_the_larger(void)
{
	cr_assert_leq(spent_now(), greater(first_amount, seen - 70000 + next_amount));
	cr_assert_eq(spent_now(), took[0] * 1000);
}

static void expect_valid(void)
{
	struct lease_view view;

	lease_read(cell, world.policy.label, BOOT, &view);
	cr_assert(view.left >= 0 && view.left <= view.amount);
	cr_assert_leq(took[1] * 1000, first_amount);
	/* Whatever the killed one left: the next lease is whole. */
	write_words(2000, false);
	lease_read(cell, world.policy.label, BOOT, &view);
	cr_assert(view.lives && view.left == 2000);
}

Test(lease_interleave, a_token_is_spent_once)
{
	first_amount = 1500;
	cr_expect_gt(walk_schedules(spend_one, FOREVER, prepare, expect_one), 100);
}

Test(lease_interleave, what_is_given_back_is_neither_lost_nor_doubled)
{
	first_amount = 2000;
	cr_expect_gt(walk_schedules(spend_and_return, FOREVER, prepare, expect_all_counted), 500);
}

Test(lease_interleave, what_is_spent_beside_the_daemon_is_never_granted_twice)
{
	static const int64_t amounts[] = { 0, 1000, 2000, 5000 };

	for (order = 0; order < 3; order++)
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++) {
				first_amount = amounts[i];
				next_amount = amounts[j];
				cr_expect_gt(walk_schedules(spend_or_write, FOREVER, prepare,
				                            expect_the_larger),
				             20);
			}
}

Test(lease_interleave, a_kill_at_any_step_leaves_a_valid_cell)
{
	first_amount = 1500;
	for (int lives = 0; lives < 8; lives++) {
		order = lives % 3;
		walk_schedules(spend_one, lives, prepare, expect_valid);
		walk_schedules(spend_and_return, lives, prepare, expect_valid);
	}
}

/* The daemon killed in the middle of its writing: a lease that nobody believes. */
Test(lease_interleave, a_daemon_that_dies_while_it_writes_has_lent_nothing_more)
{
	for (order = 0; order < 3; order++)
		for (int pieces = 1; pieces < 3; pieces++) {
			struct lease whole;

			first_amount = 1000;
			prepare();
			memcpy(&whole, cell, sizeof(whole));
			write_words(9000, false);
			for (int i = pieces; i < 3; i++) {
				static const size_t ends[] = { 0, offsetof(struct lease, tokens),
					                       offsetof(struct lease, amount),
					                       LEASE_BYTES };
				int piece = (i + order) % 3;

				memcpy((char *)cell + ends[piece], (char *)&whole + ends[piece],
				       ends[piece + 1] - ends[piece]);
			}
			spend_one(0);
			cr_expect_eq(took[0], 0);
		}
}

static void probe_alone(int who)
{
	took[who] += leased_probe(&world.account, BOOT + 4 * 3 * world.policy.probe);
}

static void prepare_alone(void)
{
	prepare();
	memset(cell, 0, sizeof(*cell));
	world.budget.began_at = BOOT;
}

static void expect_one_probe(void)
{
	cr_assert_eq(took[0] + took[1], 1);
}

static void expect_one_at_most(void)
{
	cr_assert_leq(took[0] + took[1], 1);
	probe_alone(1);
	cr_assert_leq(took[0] + took[1], 1, "nothing is left of this period");
}

Test(lease_interleave, a_period_without_a_lease_has_one_probe)
{
	cr_expect_gt(walk_schedules(probe_alone, FOREVER, prepare_alone, expect_one_probe), 3);
	for (int lives = 0; lives < 4; lives++)
		walk_schedules(probe_alone, lives, prepare_alone, expect_one_at_most);
}

#endif
