/* SPDX-License-Identifier: MIT */
/* What programs are lent of a fleet's budget. */
#include "lending_fixture.h"

#include <criterion/criterion.h>

TestSuite(lending, .init = make);

Test(lending, labels_that_draw_on_the_fleet_are_known)
{
	cr_expect_not_null(demand_of(&demand, LABEL));
	cr_expect_null(demand_of(&demand, "default"));
	cr_expect_eq(lend(1000, 0), 0, "no cell is known yet");
}

Test(lending, a_loud_user_leaves_the_others_theirs)
{
	look();
	for (int s = 0; s < SLOTS; s++)
		slot_of(1, s)->tally.retries = slot_of(2, s)->tally.retries = 100000;
	slot_of(0, 0)->tally.retries = 4;
	boot += SECONDS(1);
	look();
	cr_expect_eq(lend(TOKENS(10), 0), TOKENS(10));
	cr_expect_eq(left_at(0, 0), TOKENS(4));
	cr_expect_eq(held_in_all(), TOKENS(10));
	for (int i = 1; i < 3; i++)
		for (int s = 0; s < SLOTS; s++)
			cr_expect(left_at(i, s) >= TOKENS(1) && left_at(i, s) <= TOKENS(2));
}

Test(lending, fewer_tokens_than_cells_go_round)
{
	int had[REGIONS][SLOTS] = { 0 };

	for (int i = 0; i < REGIONS; i++)
		for (int s = 0; s < SLOTS; s++)
			wait_at(i, s);
	for (int round = 0; round < 24; round++) {
		look();
		cr_expect_eq(lend(TOKENS(1) + 900, 0), TOKENS(1));
		for (int i = 0; i < REGIONS; i++)
			for (int s = 0; s < SLOTS; s++)
				had[i][s] += left_at(i, s) == TOKENS(1);
	}
	for (int i = 0; i < REGIONS; i++)
		for (int s = 0; s < SLOTS; s++)
			cr_expect_gt(had[i][s], 0, "cell %d of region %d", s, i);
}

Test(lending, who_wants_nothing_yet_has_a_few)
{
	look();
	cr_expect_eq(lend(TOKENS(1000), 5), 6 * TOKENS(DEMAND_STANDING));
	cr_expect_eq(left_at(1, 0), TOKENS(DEMAND_STANDING));
	slot_of(1, 0)->used_at -= DEMAND_IN_USE;
	look();
	(void)lend(TOKENS(1000), 5);
	cr_expect_eq(left_at(1, 0), 0, "and none who is out of use");
}

Test(lending, probes_go_to_who_waits)
{
	struct lease_view view;

	wait_at(1, 1);
	look();
	(void)lend(0, 3);
	for (int i = 0; i < REGIONS; i++)
		for (int s = 0; s < SLOTS; s++) {
			lease_read(&slot_of(i, s)->budget.lease, lease_label(LABEL), boot, &view);
			cr_expect(view.lives && view.probes == (i == 1 && s == 1) &&
			          view.left == 0);
			cr_expect_eq(view.members, 6);
		}
}

Test(lending, a_slot_that_another_name_has_got_is_left_alone)
{
	look();
	chunk_of(0, 1)->keys[7] = 4711;
	(void)lend(TOKENS(100), 0);
	cr_expect(LOAD(slot_of(0, 1)->budget.lease.check) == 0);
	cr_expect_eq(held_in_all(), 5 * TOKENS(DEMAND_STANDING));
}

Test(lending, what_cannot_be_written_keeps_what_it_has)
{
	look();
	(void)lend(TOKENS(30), 0);
	look();
	opens[2] = SNAPSHOT_DENIED;
	(void)lend(TOKENS(12), 0);
	cr_expect_eq(held_in_all(), TOKENS(12));
	cr_expect_eq(left_at(2, 0), TOKENS(DEMAND_STANDING));
	opens[2] = SNAPSHOT_GONE;
	look();
	(void)lend(TOKENS(12), 0);
	cr_expect_eq(held_in_all() - left_at(2, 0) - left_at(2, 1), TOKENS(12),
	             "who is gone holds nothing");
}

/* What a program says that it has spent may be any number, at each look another. */
Test(lending, a_count_that_was_corrupted_at_the_last_look_counts_as_spent)
{
	struct lease *lease = &slot_of(0, 0)->budget.lease;

	look();
	(void)lend(TOKENS(30), 0);
	cr_assert_eq(left_at(0, 0), TOKENS(DEMAND_STANDING));
	lease->spent = INT64_MIN;
	look();
	lease->spent = LOAD(lease->tokens);
	(void)lend(TOKENS(30), 0);
	cr_expect_eq(held_in_all(), TOKENS(30 - DEMAND_STANDING));
}

/* The host gets more and less, rounds come and do not, tokens are spent between any two looks,
 * writes tear: what was spent is never more than what was got. */
Test(lending, no_more_is_spent_than_the_host_has_got)
{
	for (int play = 0; play < 300; play++) {
		int64_t got = 0, holds = 0, told = 0;
		int64_t got_probes = 0, holds_probes = 0;

		make();
		dice = (uint64_t)play + 1;
		chance = 30;
		for (int i = 0; i < REGIONS; i++)
			for (int s = 0; s < SLOTS; s++)
				wait_at(i, s);
		look();
		for (int tick = 0; tick < 40; tick++) {
			const struct demand_label *label = demand_of(&demand, LABEL);
			int64_t more = random_upto(&dice, 2) * 1000 * random_upto(&dice, 4);

			boot += SECONDS(0.1);
			if (random_upto(&dice, 2)) {
				look();
				holds -= label->spent;
				holds_probes -= label->probed;
				told += label->spent;
			}
			got += more;
			holds += more;
			got_probes += more / 2000;
			holds_probes += more / 2000;
			/* Some goes back to the fleet, once no cell has it any more. */
			if (random_upto(&dice, 3) == 0) {
				int64_t back = random_upto(&dice, 3) * 1000;

				if (holds >= back && lend(holds - back, holds_probes) >= 0) {
					look();
					holds -= demand_of(&demand, LABEL)->spent;
					holds_probes -= demand_of(&demand, LABEL)->probed;
					told += demand_of(&demand, LABEL)->spent;
					back = within(holds - demand_of(&demand, LABEL)->held, 0,
					              back);
					holds -= back;
					got -= back;
				}
			}
			torn = random_upto(&dice, 9) == 0;
			(void)lend(holds, holds_probes);
			torn = false;
			cr_assert_leq(spent_in_all, got, "play %d, tick %d", play, tick);
			cr_assert_leq(probed_in_all, got_probes, "play %d, tick %d", play, tick);
			cr_assert_leq(spent_in_all + held_in_all(), got, "play %d, tick %d", play,
			              tick);
			cr_assert_leq(told, spent_in_all);
		}
		cr_assert_gt(spent_in_all, 0);
		demand_end(&demand);
	}
}
