/* SPDX-License-Identifier: MIT */
/* When a host asks its ledger, and for how much. */
#include "tool/asker.h"

#include <criterion/criterion.h>

#define SYNC  NS_PER_S
#define START (1000 * NS_PER_S)

static struct asker asker;
static struct ledger_ask ask;

static void answered(int64_t tokens, int64_t waiting, int64_t now)
{
	const struct ledger_answer answer = { .status = LEDGER_GOOD,
		                              .epoch = 1,
		                              .generation = 1,
		                              .lifetime = 8000,
		                              .grant = { tokens, 0 },
		                              .waiting = waiting,
		                              .success_age = -1 };

	cr_assert(asker_answer(&asker, &answer, 60 * NS_PER_S, now));
}

static void begin(void)
{
	asker_begin(&asker, 7, SYNC, 0);
	asker_note(&asker, &(struct asker_seen) { 0 }, START);
	asker_ask(&asker, 0, START, &ask);
	answered(0, 0, START);
}

Test(asker, asks_seldom_when_idle_and_each_sync_when_active, .init = begin)
{
	cr_expect_not(asker_is_due(&asker, true, 0, START + 5 * SYNC));
	cr_expect(asker_is_due(&asker, true, 0, START + 30 * SYNC));
	cr_expect(asker_is_due(&asker, false, 0, START + SYNC), "until it knows its part");
	asker_note(&asker, &(struct asker_seen) { .wanted = 3, .waiting = 1 }, START + SYNC / 2);
	cr_expect_not(asker_is_due(&asker, true, 0, START + SYNC / 2));
	cr_expect(asker_is_due(&asker, true, 0, START + SYNC));
}

/* A ledger without a rule, say, for hours: of no word that it has may a fleet be a load in calm. */
Test(asker, asks_seldom_when_idle_whatever_the_word, .init = begin)
{
	const struct asker_seen wants = { .wanted = 1, .waiting = 1 };
	int asked = 0, soon = 0;
	int64_t now;

	for (now = START + SYNC; now < START + 3600 * SYNC; now += SYNC) {
		asker_note(&asker, &(struct asker_seen) { 0 }, now);
		if (!asker_is_due(&asker, false, 0, now))
			continue;
		asker_ask(&asker, 0, now, &ask);
		holder_lose(&asker.holder);
		asked++;
		soon += now <= START + 16 * SYNC;
	}
	cr_expect_geq(asked, 120, "%d", asked);
	cr_expect_leq(asked, 250, "%d", asked);
	cr_expect_geq(soon, 3, "in the first moments it may be set any time: %d", soon);
	asker_note(&asker, &wants, now);
	cr_expect(asker_is_due(&asker, false, 0, now + SYNC), "who wants some asks each sync");
}

Test(asker, asks_each_sync_while_the_ledger_learns, .init = begin)
{
	const struct ledger_answer learns = { .status = LEDGER_GOOD,
		                              .epoch = 1,
		                              .lifetime = 8000,
		                              .learning = 1,
		                              .success_age = -1 };

	for (int64_t now = START + SYNC; now < START + 20 * SYNC; now += SYNC) {
		asker_note(&asker, &(struct asker_seen) { 0 }, now);
		cr_expect(asker_is_due(&asker, false, 8 * NS_PER_S, now));
		asker_ask(&asker, 0, now, &ask);
		cr_assert(asker_answer(&asker, &learns, 60 * NS_PER_S, now));
		cr_expect_not(asker_is_due(&asker, false, 8 * NS_PER_S, now + SYNC / 2));
	}
}

Test(asker, asks_early_enough_for_a_short_lease, .init = begin)
{
	asker_note(&asker, &(struct asker_seen) { .wanted = 1, .waiting = 1 }, START);
	cr_expect(asker_is_due(&asker, true, 4 * NS_PER_S, START + SYNC / 2));
}

Test(asker, tells_a_success_at_once_where_others_wait, .init = begin)
{
	const struct asker_seen seen = { .good = 1, .success_at = START + SYNC / 3 };

	asker_note(&asker, &seen, START + SYNC / 2);
	cr_expect_not(asker_is_due(&asker, true, 0, START + SYNC / 2), "nobody waits");
	asker.waiting = 2;
	asker_note(&asker, &seen, START + SYNC / 2);
	cr_expect(asker_is_due(&asker, true, 0, START + SYNC / 2));
	asker_ask(&asker, 0, START + SYNC / 2, &ask);
	cr_expect_eq(ask.success_age, SYNC / 6 / NS_PER_MS);
	cr_expect_eq(ask.good, 2);
	answered(0, 2, START + SYNC / 2);
	asker_note(&asker, &(struct asker_seen) { 0 }, START + SYNC);
	cr_expect_not(asker_is_due(&asker, true, 0, START + 2 * SYNC), "it is told");
}

Test(asker, wants_twice_what_was_spent_and_one_for_each_that_waits, .init = begin)
{
	asker_note(&asker, &(struct asker_seen) { .wanted = 1000, .waiting = 2 }, START + SYNC);
	asker_ask(&asker, 2, START + SYNC, &ask);
	cr_expect_eq(ask.wants[PURSE_TOKENS], 2 * FLEET_TOKEN);
	cr_expect_eq(ask.wants[PURSE_PROBES], 1);
	answered(2 * FLEET_TOKEN, 1, START + SYNC);
	/* Two looks between two requests are one sum. */
	for (int i = 0; i < 2; i++)
		asker_note(
		    &asker,
		    &(struct asker_seen) { .wanted = 500, .waiting = 2, .spent = FLEET_TOKEN },
		    START + 2 * SYNC);
	asker_ask(&asker, 2, START + 2 * SYNC, &ask);
	cr_expect_eq(ask.wants[PURSE_TOKENS], 6 * FLEET_TOKEN);
	cr_expect_eq(ask.held[PURSE_TOKENS], 0);
}

Test(asker, looks_at_moments_of_its_own, .init = begin)
{
	uint64_t random = 3;
	int64_t least = INT64_MAX, most = 0;

	for (int i = 0; i < 1000; i++) {
		int64_t pause = asker_pause(SYNC, i % 2, &random) * (1 + i % 2);

		least = lesser(least, pause);
		most = greater(most, pause);
	}
	cr_expect(least >= SYNC * 9 / 10 && least < SYNC * 92 / 100, "%lld", (long long)least);
	cr_expect(most <= SYNC * 11 / 10 && most > SYNC * 108 / 100, "%lld", (long long)most);
}
