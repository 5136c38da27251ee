/* SPDX-License-Identifier: MIT */
/* A lease of the fleet's budget: what a cell gives, when it ends, and what garbage in it costs. */
#include "budget_fixture.h"
#include "region/lease.h"
#include "sys/random.h"

#define LABEL "orders-db"
#define BOOT  (START_OF_TIME + SECONDS(7)) /* this machine has slept for a while */

static struct lease cell;
static struct lease_view view;

/* As the daemon does: the first words alone. */
static void grant_for(struct lease *to, const char *label, struct lease_grant grant)
{
	struct lease words;

	lease_compose(&words, to, label, &grant);
	memcpy(to, &words, LEASE_BYTES);
}

static void grant(int64_t tokens, int64_t probes)
{
	grant_for(&cell, LABEL,
	          (struct lease_grant) { .generation = 3,
	                                 .until = BOOT + SECONDS(10),
	                                 .tokens = tokens,
	                                 .probes = probes,
	                                 .members = 2,
	                                 .news_at = BOOT - SECONDS(1),
	                                 .failing = 900000,
	                                 .waiting = 41 });
}

static bool lives(int64_t boot)
{
	lease_read(&cell, lease_label(LABEL), boot, &view);
	return view.lives;
}

static bool spend(int64_t cost)
{
	return lease_spend(&cell, lease_label(LABEL), cost, BOOT) == cost;
}

static int64_t left(void)
{
	lease_read(&cell, lease_label(LABEL), BOOT, &view);
	return view.left;
}

static int64_t spend_all(void)
{
	int64_t sum = 0;

	for (int i = 0; i < 5000 && spend(1000); i++)
		sum += 1000;
	return sum;
}

Test(lease, zeroes_are_no_lease)
{
	cr_expect_not(lives(BOOT));
	cr_expect(!view.is_whole && view.left == 0 && view.members == 1);
	cr_expect_not(spend(1000));
	cr_expect_not(lease_probe(&cell, lease_label(LABEL), BOOT));
	lease_return(&cell, lease_label(LABEL), 1000);
	cr_expect_eq(cell.spent, 0);
}

/* It would be whole again with each spend. */
Test(lease, an_amount_longer_than_all_that_was_ever_lent_is_cut)
{
	grant(2500, 1);
	STORE(cell.tokens, 1000);
	STORE(cell.probes, 0);
	STORE(cell.spent, -1);
	STORE(cell.probed, -1);
	STORE(cell.check, lease_check(&cell));
	cr_expect_eq(left(), 1000);
	cr_expect_eq(spend_all(), 1000);
	cr_expect_not(lease_probe(&cell, lease_label(LABEL), BOOT));
}

Test(lease, what_was_granted_is_what_is_read)
{
	grant(2500, 1);
	cr_assert(lives(BOOT));
	cr_expect(view.left == 2500 && view.amount == 2500 && view.probes == 1);
	cr_expect(view.generation == 3 && view.members == 2 && view.until == BOOT + SECONDS(10));
	cr_expect(view.news_at == BOOT - SECONDS(1) && view.failing == 900000 &&
	          view.waiting == 41);
}

Test(lease, tokens_and_probes_are_spent_once_each)
{
	grant(2500, 1);
	cr_expect(spend(1000) && spend(1000) && !spend(1000) && spend(500) && !spend(1));
	cr_expect(lease_probe(&cell, lease_label(LABEL), BOOT));
	cr_expect_not(lease_probe(&cell, lease_label(LABEL), BOOT));
	cr_expect(lease_spent(&cell) == 2500 && lease_probed(&cell) == 1);
}

Test(lease, ends_by_the_clock)
{
	grant(2500, 1);
	cr_expect(lives(BOOT + SECONDS(10) - 1));
	cr_expect_not(lives(BOOT + SECONDS(10)));
	cr_expect(view.left == 0 && view.probes == 0 && view.news_at == 0);
	cr_expect_eq(view.members, 2, "who shares the reserve is still known");
	cr_expect_eq(lease_spend(&cell, lease_label(LABEL), 1, BOOT + SECONDS(10)), -1);
	cr_expect_not(lease_probe(&cell, lease_label(LABEL), BOOT + SECONDS(10)));
}

Test(lease, of_another_clock_is_none)
{
	grant(2500, 1);
	cr_expect_not(lives(BOOT - LEASE_LONGEST));
	cr_expect_not(lives(0));
	cr_expect_not(lives(INT64_MAX));
}

Test(lease, of_another_label_is_none)
{
	grant_for(&cell, "cache",
	          (struct lease_grant) { .until = BOOT + SECONDS(10), .tokens = 9000 });
	cr_expect_not(lives(BOOT));
	cr_expect_not(view.is_whole);
	cr_expect_not(spend(1));
}

Test(lease, a_new_one_takes_the_place_of_what_was_left)
{
	grant(5000, 3);
	cr_expect(spend(1000) && spend(1000));
	grant(1000, 0);
	cr_expect_eq(left(), 1000);
	cr_expect_not(lease_probe(&cell, lease_label(LABEL), BOOT));
	cr_expect_eq(spend_all(), 1000);
	grant(0, 0);
	cr_expect(lives(BOOT) && left() == 0);
}

Test(lease, what_is_spent_while_it_is_written_is_spent_of_the_new_one)
{
	struct lease words, seen;

	grant(5000, 0);
	cr_expect(spend(1000));
	memcpy(&seen, &cell, sizeof(seen));
	cr_expect(spend(1000) && spend(1000));
	lease_compose(&words, &seen, LABEL,
	              &(struct lease_grant) { .until = BOOT + SECONDS(10), .tokens = 4000 });
	memcpy(&cell, &words, LEASE_BYTES);
	cr_expect_eq(spend_all(), 2000);
}

Test(lease, a_return_is_bounded_by_the_amount)
{
	grant(2000, 0);
	lease_return(&cell, lease_label(LABEL), 1000);
	cr_expect_eq(left(), 2000);
	cr_expect(spend(1000) && spend(1000));
	lease_return(&cell, lease_label(LABEL), 1000);
	cr_expect_eq(left(), 1000);
	lease_return(&cell, lease_label(LABEL), INT64_MIN);
	cr_expect_eq(left(), 1000);
	grant(500, 0);
	lease_return(&cell, lease_label(LABEL), 1000);
	cr_expect_eq(left(), 500, "what was left of the last one is void");
}

/* The kernel may copy in any pieces: of old and new bytes no mixture is a lease, but for the two
 * that are whole. */
Test(lease, of_a_torn_one_nothing_is_believed)
{
	struct lease before, after, words;
	uint64_t dice = 7;

	grant(1000, 1);
	memcpy(&before, &cell, sizeof(before));
	lease_compose(
	    &words, &cell, LABEL,
	    &(struct lease_grant) {
		.generation = 4, .until = BOOT + SECONDS(40), .tokens = 700000, .probes = 9 });
	memcpy(&after, &cell, sizeof(after));
	memcpy(&after, &words, LEASE_BYTES);
	for (size_t cut = 1; cut < LEASE_BYTES; cut++) {
		memcpy(&cell, &before, sizeof(cell));
		memcpy(&cell, &after, cut);
		if (memcmp(&cell, &before, sizeof(cell)) == 0 ||
		    memcmp(&cell, &after, sizeof(cell)) == 0)
			continue;
		cr_assert_not(lives(BOOT), "after %zu bytes", cut);
	}
	for (int i = 0; i < 20000; i++) {
		uint64_t which = random_next(&dice);

		for (size_t byte = 0; byte < LEASE_BYTES; byte++)
			((char *)&cell)[byte] =
			    ((const char *)(which >> byte / 4 % 23 & 1 ? &after : &before))[byte];
		if (memcmp(&cell, &before, LEASE_BYTES) == 0 ||
		    memcmp(&cell, &after, LEASE_BYTES) == 0)
			continue;
		cr_assert_not(lives(BOOT));
	}
}

/* Whoever can write the region can write a whole lease of his own; what he gets by it is one that
 * is in range. */
Test(lease, hostile_words_cost_one_amount)
{
	static const int64_t values[] = {
		0,    1,         -1,        1000,          INT64_MIN,    INT64_MAX,
		BOOT, PPM_WHOLE, INT32_MAX, INT64_MAX / 2, INT64_MIN + 1
	};
	const int count = sizeof(values) / sizeof(*values);

	for (int word = 1; word < 13; word++) {
		for (int i = 0; i < count; i++) {
			memset(&cell, 0, sizeof(cell));
			grant(3000, 2);
			STORE(((cell64 *)&cell)[word], values[i]);
			STORE(cell.check, lease_check(&cell));
			lease_read(&cell, lease_label(LABEL), BOOT, &view);
			cr_assert(view.left >= 0 && view.left <= view.amount &&
			              view.amount <= LEASE_TOKENS_MOST,
			          "word %d, value %d", word, i);
			cr_assert(view.probes >= 0 && view.probes <= LEASE_PROBES_MOST);
			cr_assert(view.members >= 1 && view.members <= LEASE_MEMBERS_MOST);
			cr_assert(view.news_at >= 0 && view.news_at <= BOOT);
			cr_assert(view.failing >= 0 && view.failing <= PPM_WHOLE &&
			          view.waiting >= 0);
			if (word >= 11)
				cr_assert_leq(spend_all(), 3000, "word %d, value %d", word, i);
			cr_assert(lease_spent(&cell) >= 0 && lease_probed(&cell) >= 0);
			grant(2000, 1);
			cr_assert_leq(left(), 2000);
			cr_assert_eq(spend_all(), 2000, "it heals: word %d, value %d", word, i);
		}
	}
}
