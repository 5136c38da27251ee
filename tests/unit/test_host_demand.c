/* SPDX-License-Identifier: MIT */
/* What programs want of a fleet's budget, as the daemon reads it. */
#include "lending_fixture.h"
#include "sys/real.h"

#include <criterion/criterion.h>

#include <string.h>
#include <sys/resource.h>

TestSuite(host_demand, .init = make);

Test(host_demand, a_round_tells_what_has_come_since_the_last)
{
	struct demand_label *label = demand_of(&demand, LABEL);
	struct destination *of = slot_of(1, 1);

	of->tally.retries = 500;
	of->tally.answered[0] = 70;
	look();
	cr_expect(label->wanted == 0 && label->successes == 0 && label->members == 6,
	          "what was before is nobody's demand");
	of->tally.retries = 507;
	of->tally.avoided = 4;
	of->tally.answered[1] = 2;
	of->tally.failed[0] = 9;
	boot += SECONDS(1);
	look();
	cr_expect(label->wanted == 7 && label->throttled == 4 && label->successes == 2 &&
	          label->failures == 9);
	cr_expect(label->success_at > 0 && label->success_at <= boot);
	boot += SECONDS(1);
	look();
	cr_expect(label->wanted == 0 && label->successes == 0 && label->success_at > 0);
}

/* A program that is new is answered, and seen only then. */
Test(host_demand, answers_of_who_is_seen_for_the_first_time_are_news)
{
	const struct demand_label *label = demand_of(&demand, LABEL);
	struct destination *of = slot_of(0, 0);

	of->tally.answered[0] = 2;
	look();
	cr_expect(label->successes == 0 && label->success_at == 0, "of before our time");
	chunk_of(0, 0)->keys[7] = of->named = 77;
	of->tally.answered[0] = 1;
	of->budget.streak = 1;
	look();
	cr_expect(label->successes == 0 && label->success_at == 0, "it has failed since");
	chunk_of(0, 0)->keys[7] = of->named = 78;
	of->budget.streak = 0;
	look();
	cr_expect(label->successes == 1 && label->success_at == boot);
	look();
	cr_expect(label->successes == 0, "once");
}

/* An old program, whose file has only now begun to say that it draws on the fleet. */
Test(host_demand, answers_of_before_a_file_was_read_anew_are_no_news)
{
	const struct demand_label *label = demand_of(&demand, LABEL);
	struct destination *of = slot_of(0, 0);

	of->tally.answered[0] = 2;
	strcpy(of->policy, "another");
	look();
	strcpy(of->policy, LABEL);
	boot += SECONDS(1);
	look();
	cr_expect(label->successes == 0 && label->success_at == 0);
	of->tally.answered[0]++;
	boot += SECONDS(1);
	look();
	cr_expect(label->successes == 1 && label->success_at > 0);
}

Test(host_demand, how_a_program_ended_is_read_from_what_it_leaves)
{
	const struct demand_label *label = demand_of(&demand, LABEL);
	struct destination *of = slot_of(0, 0);

	wait_at(0, 0);
	slot_of(0, 1)->used_at -= DEMAND_IN_USE; /* a chunk is of a share, and no program's own */
	look();
	(void)lend(TOKENS(5), 0);
	boot += SECONDS(1);
	look();
	cr_assert_geq(left_at(0, 0), TOKENS(1));
	of->tally.answered[1]++;
	of->budget.streak = 0;
	cr_assert_gt(lease_spend(&of->budget.lease, lease_label(LABEL), TOKENS(1), boot), 0);
	end(0);
	boot += SECONDS(1);
	look();
	cr_expect(label->successes == 1 && label->won == 1 && label->success_at > 0);
	cr_expect_eq(label->spent, TOKENS(1) + left_at(0, 1), "and the rest may be lent to others");
	look();
	cr_expect(label->successes == 0 && label->spent == 0, "once");
	cr_expect_eq(demand.last_look.count, REGIONS - 1);
}

/* Or of each token as many programs could use one as the daemon looks. */
Test(host_demand, what_was_lent_to_who_has_ended_is_spent_where_nothing_is_left_to_read)
{
	const struct demand_label *label = demand_of(&demand, LABEL);

	by_address = true;
	for (int i = 0; i < 4; i++) {
		wait_at(0, 0);
		look();
		cr_assert_eq(lend(TOKENS(1), 1), TOKENS(1));
		end(0);
		boot += SECONDS(1);
		look();
		cr_expect(label->spent == TOKENS(1) && label->probed == 1, "program %d", i);
		ended[0] = false;
		opens[0] = SNAPSHOT_GOOD;
		regions[0]->identity.pid++;
		memset(&slot_of(0, 0)->budget.lease, 0, sizeof(struct lease));
	}
}

/* Where /proc cannot be read to its end, half of the programs are not seen. */
Test(host_demand, a_round_that_failed_is_as_if_it_had_not_been)
{
	const struct demand_label *label = demand_of(&demand, LABEL);
	struct demand_label before;
	struct destination *of = slot_of(2, 0);

	by_address = true;
	of->tally.answered[0] = slot_of(0, 0)->tally.answered[0] = 9;
	strcpy(slot_of(0, 0)->policy, "another");
	wait_at(1, 0);
	look();
	cr_assert_eq(lend(TOKENS(1), 0), TOKENS(1));
	before = *label;
	while (readable-- > 0) {
		boot += SECONDS(1);
		of->tally.answered[0]++;
		cr_assert_not(demand_round(&demand, boot));
		cr_expect_eq(memcmp(label, &before, sizeof(before)), 0);
	}
	readable = REGIONS;
	strcpy(slot_of(0, 0)->policy, LABEL);
	end(1);
	boot += SECONDS(1);
	look();
	cr_expect(label->spent == TOKENS(1), "it has ended since: %ld mt", (long)label->spent);
	cr_expect_eq(label->successes, REGIONS, "and what was answered meanwhile is news: %ld",
	             (long)label->successes);
}

Test(host_demand, regions_are_held_with_half_of_the_descriptors)
{
	struct rlimit few = { .rlim_cur = 4, .rlim_max = 4 };

	for (int i = 0; i < REGIONS; i++)
		wait_at(i, 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	look();
	cr_expect_eq(demand.last_look.count, 2);
}

/* Of a share others may still spend what it holds, whoever has left it. */
Test(host_demand, a_share_that_nobody_has_mapped_keeps_what_it_has)
{
	const struct demand_label *label = demand_of(&demand, LABEL);
	struct destination *of = slot_of(0, 0);

	owners[0].regions[0].kind = MAPPING_SHARED;
	of->tally.answered[0] = 9;
	wait_at(0, 0);
	look();
	cr_assert_geq(lend(TOKENS(3), 0), TOKENS(1));
	end(0);
	boot += SECONDS(1);
	look();
	cr_expect(label->spent == left_at(0, 0) && label->spent > 0);
	boot += SECONDS(1);
	look();
	cr_expect_eq(label->spent, 0);
	ended[0] = false;
	opens[0] = SNAPSHOT_GOOD;
	of->budget.streak = 0;
	of->tally.answered[0]++;
	boot += SECONDS(1);
	look();
	cr_expect_eq(label->successes, 1, "since it was seen last: %ld", (long)label->successes);
}

Test(host_demand, old_answers_of_a_share_that_was_never_seen_are_no_news)
{
	const struct demand_label *label = demand_of(&demand, LABEL);

	owners[0].regions[0].kind = MAPPING_SHARED;
	end(0);
	look();
	ended[0] = false;
	opens[0] = SNAPSHOT_GOOD;
	slot_of(0, 0)->tally.answered[0] = 9;
	boot += SECONDS(1);
	look();
	cr_expect(label->successes == 0 && label->success_at == 0);
}

Test(host_demand, who_waits_wants_one)
{
	struct demand_label *label = demand_of(&demand, LABEL);

	wait_at(0, 0);
	wait_at(2, 1);
	slot_of(2, 0)->budget.wanted_at = monotonic();
	look();
	cr_expect(label->wanted == 2 && label->waiting == 2);
	slot_of(0, 0)->budget.wanted_at -= DEMAND_WAITING;
	look();
	cr_expect(label->wanted == 1 && label->waiting == 1);
}

Test(host_demand, what_is_claimed_is_capped)
{
	struct demand_label *label = demand_of(&demand, LABEL);

	look();
	slot_of(0, 0)->tally.retries = INT64_MAX;
	slot_of(1, 0)->tally.retries = 3;
	boot += SECONDS(2);
	look();
	cr_expect_eq(label->wanted, 2 * DEMAND_CELL_MOST + 3, "%ld", (long)label->wanted);
	/* A count that falls began anew, and a negative one is none. */
	slot_of(0, 0)->tally.retries = INT64_MIN;
	boot += SECONDS(2);
	look();
	cr_expect_eq(label->wanted, 0);
}

Test(host_demand, sums_of_what_is_claimed_end_at_the_largest_number)
{
	struct demand_label *label = demand_of(&demand, LABEL);

	look();
	for (int i = 0; i < REGIONS; i++) {
		struct tally *tally = &slot_of(i, 0)->tally;

		tally->avoided = tally->answered[0] = tally->answered[1] = INT64_MAX;
		tally->failed[0] = tally->failed[1] = INT64_MAX;
	}
	boot += SECONDS(1);
	look();
	cr_expect(label->throttled == INT64_MAX && label->successes == INT64_MAX &&
	          label->failures == INT64_MAX);
}
