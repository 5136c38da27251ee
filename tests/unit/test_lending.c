/* SPDX-License-Identifier: MIT */
/*
 * What programs want of a fleet's budget, and what they are lent: over regions of this test's own,
 * in which tokens are spent between any two looks of the daemon, and that cannot be read, or
 * written, or are gone, as it pleases.
 */
/* Instead of the processes of this machine. */
#define chunk_file_open   forged_chunk_open
#define families_read     forged_visit
#define region_file_open  forged_open
#define region_file_read  forged_read
#define region_file_write forged_write
#define region_file_close forged_close
#define process_lives     forged_lives
#include "budget_fixture.h"
#include "config/keys.h"
#include "region/region.h"
#include "sys/random.h"
#include "tool/family.h"

#include <errno.h>
#include <stdio.h>

#include "../../shim/agent/demand_cells.c"
#include "../../shim/agent/host_demand.c"
#include "../../shim/agent/last_look.c"
#include "../../shim/agent/lending.c"
#include "../../shim/agent/sightings.c"

#define LABEL   "orders-db"
#define REGIONS 3
#define SLOTS   2

static struct region *regions[REGIONS];
static struct chunk *chunks[REGIONS]; /* that each has grown by: the second slot is there */
static struct process owners[REGIONS];
static enum snapshot_state opens[REGIONS];
static bool ended[REGIONS];
static bool by_address; /* no right to open what a process has mapped */
static bool torn;       /* the next write stops in the middle */
static uint64_t dice;
static int64_t spent_in_all, probed_in_all;
static int chance; /* of a token to be spent at each step, percent */
static struct config config;
static struct demand demand;
static int64_t boot;

static struct chunk *chunk_of(int region, int slot)
{
	return slot == 0 ? &regions[region]->first : chunks[region];
}

static struct destination *slot_of(int region, int slot)
{
	return &chunk_of(region, slot)->destinations[7];
}

static void spend_somewhere(void)
{
	struct destination *of =
	    slot_of((int)random_upto(&dice, REGIONS - 1), (int)random_upto(&dice, SLOTS - 1));

	if (random_upto(&dice, 99) >= chance)
		return;
	if (random_upto(&dice, 3) == 0)
		probed_in_all += lease_probe(&of->budget.lease, lease_label(LABEL), boot);
	else if (lease_spend(&of->budget.lease, lease_label(LABEL), 1000, boot) > 0)
		spent_in_all += 1000;
}

bool forged_visit(const struct family_reader *reader, void *arg, size_t *unreadable)
{
	*unreadable = 0;
	for (int i = 0; i < REGIONS; i++) {
		static struct snapshot snapshot;
		static struct destination found[SLOTS];
		static uint32_t slots[SLOTS] = { 7, REGION_CHUNK + 7 };
		struct family family = { &owners[i], 1, &snapshot, false };

		snapshot = (struct snapshot) { .state = opens[i],
			                       .region = regions[i],
			                       .destinations = found,
			                       .slots = slots };
		for (int s = 0; s < SLOTS; s++) {
			struct destination *next = &found[snapshot.slot_count];

			memcpy(next, slot_of(i, s), sizeof(*next));
			snapshot.slot_count += reader->keeps(&family, slots[s], next, arg);
		}
		reader->visit(&family, &snapshot, arg);
		spend_somewhere();
	}
	return true;
}

enum snapshot_state forged_open(const struct process *process, const struct mapping *mapping,
                                bool for_writing, struct region_file *file)
{
	(void)mapping;
	(void)for_writing;
	spend_somewhere();
	*file = (struct region_file) { .pid = process->pid,
		                       .fd = by_address ? -1 : 1,
		                       .at = regions[process->pid - 1] };
	return opens[process->pid - 1];
}

enum snapshot_state forged_chunk_open(const struct process *process, const struct mapping *mapping,
                                      const struct chunk_name *name, bool for_writing,
                                      struct region_file *file)
{
	(void)mapping;
	(void)for_writing;
	spend_somewhere();
	cr_assert(name->number == 1 && name->said == process->pid + 100);
	*file =
	    (struct region_file) { .pid = process->pid, .fd = 1, .at = chunks[process->pid - 1] };
	return opens[process->pid - 1];
}

enum snapshot_state forged_read(const struct region_file *file, size_t offset, void *out, size_t n)
{
	memcpy(out, (char *)file->at + offset, n);
	spend_somewhere();
	return SNAPSHOT_GOOD;
}

enum snapshot_state forged_write(const struct region_file *file, size_t offset, const void *bytes,
                                 size_t n)
{
	spend_somewhere();
	memcpy((char *)file->at + offset, bytes, torn ? n / 2 : n);
	spend_somewhere();
	if (!torn)
		return SNAPSHOT_GOOD;
	torn = false;
	return SNAPSHOT_FALSE;
}

void forged_close(struct region_file *file)
{
	file->fd = -1;
}

bool forged_lives(const struct process *process)
{
	return !ended[process->pid - 1];
}

static void make(void)
{
	int64_t mono = monotonic();

	for (int i = 0; i < REGIONS; i++) {
		if (!regions[i]) {
			regions[i] = aligned_alloc(REGION_LINE, sizeof(struct region));
			chunks[i] = aligned_alloc(REGION_LINE, sizeof(struct chunk));
		}
		memset(regions[i], 0, sizeof(struct region));
		memset(chunks[i], 0, sizeof(struct chunk));
		regions[i]->chunks[1] = i + 1 + 100;
		regions[i]->magic = REGION_MAGIC;
		regions[i]->size = sizeof(struct region);
		regions[i]->identity.pid = i + 1;
		owners[i] =
		    (struct process) { .pid = i + 1, .user = i == 0 ? 1 : 2, .region_count = 1 };
		owners[i].regions[0].inode = (uint64_t)i + 1;
		owners[i].regions[0].kind = MAPPING_OWN;
		ended[i] = false;
		opens[i] = SNAPSHOT_GOOD;
		for (int s = 0; s < SLOTS; s++) {
			struct destination *of = slot_of(i, s);

			chunk_of(i, s)->keys[7] = of->named = 100 * i + 2 * s + 1;
			of->used_at = mono;
			strcpy(of->policy, LABEL);
		}
	}
	config_defaults(&config);
	config.policy_count = 2;
	config.policies[1].leased = 1;
	strcpy(config.labels[1], LABEL);
	spent_in_all = probed_in_all = 0;
	by_address = false;
	chance = 0;
	dice = 11;
	boot = boottime();
	cr_assert(demand_start(&demand, &config));
}

static void look(void)
{
	cr_assert(demand_round(&demand, boot));
}

static int64_t lend(int64_t tokens, int64_t probes)
{
	return demand_lend(&demand, LABEL,
	                   &(struct lease_grant) {
			       .until = boot + SECONDS(10), .tokens = tokens, .probes = probes },
	                   boot);
}

static void wait_at(int region, int slot)
{
	struct destination *of = slot_of(region, slot);

	of->budget.streak = 3;
	of->budget.wanted_at = monotonic();
}

static int64_t left_at(int region, int slot)
{
	struct lease_view view;

	lease_read(&slot_of(region, slot)->budget.lease, lease_label(LABEL), boot, &view);
	return view.left;
}

static int64_t held_in_all(void)
{
	int64_t sum = 0;

	for (int i = 0; i < REGIONS; i++)
		for (int s = 0; s < SLOTS; s++)
			sum += left_at(i, s);
	return sum;
}

TestSuite(lending, .init = make);

Test(lending, labels_that_draw_on_the_fleet_are_known)
{
	cr_expect_not_null(demand_of(&demand, LABEL));
	cr_expect_null(demand_of(&demand, "default"));
	cr_expect_eq(lend(1000, 0), 0, "no cell is known yet");
}

Test(lending, a_round_tells_what_has_come_since_the_last)
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
Test(lending, answers_of_who_is_seen_for_the_first_time_are_news)
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
Test(lending, answers_of_before_a_file_was_read_anew_are_no_news)
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

static void end(int region)
{
	ended[region] = true;
	opens[region] = SNAPSHOT_GONE;
}

Test(lending, how_a_program_ended_is_read_from_what_it_leaves)
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
Test(lending, what_was_lent_to_who_has_ended_is_spent_where_nothing_is_left_to_read)
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

/* Of a share others may still spend what it holds, whoever has left it. */
Test(lending, a_share_that_nobody_has_mapped_keeps_what_it_has)
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

Test(lending, old_answers_of_a_share_that_was_never_seen_are_no_news)
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

Test(lending, who_waits_wants_one)
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

Test(lending, what_is_claimed_is_capped)
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

Test(lending, sums_of_what_is_claimed_end_at_the_largest_number)
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
