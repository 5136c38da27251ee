/* SPDX-License-Identifier: MIT */
/* What answers earn a fleet on its way back: rule 7 of tool/ledger.h. */
#include "lease_fixture.h"

#include "tool/asker.h"

#include <criterion/criterion.h>

static struct fleet fleet;
static struct ledger_answer answer;

/* A host that has spent all it held tells how that ended, and wants more. */
static int64_t told(int host, int64_t won, int64_t lost, int64_t wants)
{
	const int64_t wanted[PURSES] = { wants, 0 };
	struct ledger_ask ask;

	holder_spend(&fleet.hosts[host], PURSE_TOKENS, FLEET_CAPACITY_MOST);
	holder_ask(&fleet.hosts[host], wanted, boot_of(&fleet), &ask);
	ask.won = won;
	ask.lost = lost;
	answer = at_server(&fleet, host, &ask);
	holder_answer(&fleet.hosts[host], &answer, boot_of(&fleet));
	return answer.grant[PURSE_TOKENS];
}

/* All that was saved up is gone. */
static void drain(void)
{
	for (int i = 0; i < 40; i++)
		told(0, 0, 0, 100000);
}

static void start(void)
{
	fleet_start(&fleet, &fleet_rule, 10000);
	drain();
	told(9, 0, 0, 0); /* is known */
}

/* Until outcomes that were told of count no more. */
static void wait_long(void)
{
	for (int i = 0; i < 6; i++) {
		fleet.ms += 1000;
		drain();
	}
}

Test(lease_earned, answers_let_five_go_for_four, .init = start)
{
	cr_assert_eq(told(0, 0, 0, 9000), 0);
	cr_assert_eq(told(0, 4, 0, 9000), 5000);
	cr_assert_eq(answer.earned, 5000);
	cr_assert_eq(told(0, 0, 0, 9000), 0, "once");
	cr_assert_eq(told(9, 8, 0, 0), 0);
	cr_assert_eq(told(1, 0, 0, 9000), 5000, "a part of two hosts'");
	cr_assert_eq(told(0, 0, 0, 9000), 2000);
}

Test(lease_earned, failures_take_them_away_and_are_made_good_first, .init = start)
{
	cr_assert_eq(told(0, 12, 1, 20000), 14000, "15 less 0.75");
	told(0, 0, 1000, 9000);
	wait_long();
	cr_assert_eq(told(0, 3, 0, 9000), 0);
	cr_assert_eq(told(0, 1, 0, 9000), 1000, "an outage is forgiven after four answers");
}

/* Of a destination that fails more than an eighth of what comes. */
Test(lease_earned, where_it_takes_no_more_their_number_does_not_grow, .init = start)
{
	cr_assert_eq(told(0, 7, 1, 20000), 8000, "one of eight is not yet more");
	cr_assert_eq(told(0, 20, 8, 30000), 16000, "18 less 2");
	wait_long();
	cr_assert_eq(told(0, 4, 0, 9000), 5000, "what failed long ago counts no more");
}

Test(lease_earned, whoever_claims_too_many_earns_no_more_than_the_capacity, .init = start)
{
	cr_assert_eq(told(9, INT64_MAX, 0, 0), 0);
	cr_assert_eq(fleet.ledger.earned, 100000);
	cr_assert_eq(told(9, INT64_MAX, 0, 0), 0);
	cr_assert_eq(fleet.ledger.earned, 100000);
	told(9, -5, -5, 0);
	told(9, 0, INT64_MAX, 0);
	cr_assert_eq(fleet.ledger.earned, -FLEET_DEBT);
}

Test(lease_earned, they_lie_there_for_two_eighths, .init = start)
{
	cr_assert_eq(told(9, 8, 0, 0), 0);
	for (int i = 0; i < 5; i++, fleet.ms += 1000)
		told(8, 0, 0, 0);
	cr_assert_eq(fleet.ledger.earned + fleet.ledger.earned_before, 0);
}

Test(lease_earned, nobody_earns_in_a_ledger_that_learns_or_does_not_know_him, .init = start)
{
	fleet.hosts[9].life = 99;
	told(9, 8, 0, 0);
	cr_assert_eq(fleet.ledger.earned, 0);
	told(9, 8, 0, 0);
	cr_assert_eq(fleet.ledger.earned, 10000);
	fleet.forgets = true;
	told(9, 0, 0, 0);
	cr_assert_eq(fleet.ledger.earned, 0);
	told(9, 8, 0, 0);
	cr_assert_eq(fleet.ledger.earned, 0);
}

Test(lease_earned, no_request_makes_them_last_longer, .init = start)
{
	const int64_t wants[PURSES] = { 9000, 0 };
	struct ledger_ask ask;

	cr_assert_eq(told(0, 4, 0, 9000), 5000);
	cr_assert_eq(holder_until(&fleet.hosts[0]), fleet.hosts[0].until);
	for (int i = 0; i < 19; i++) {
		fleet.ms += 1000;
		sync_host(&fleet, 0, 5000, 0);
		cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], 5000);
	}
	cr_assert(holder_until(&fleet.hosts[0]) < fleet.hosts[0].until);
	fleet.ms += 1000;
	holder_ask(&fleet.hosts[0], wants, boot_of(&fleet), &ask);
	cr_assert_eq(ask.held[PURSE_TOKENS], 0);
}

/* What answers earned is held beside the capacity, and takes no room of what is free until time has
 * passed: as in Redis, which looks at nothing where none has. */
Test(lease_earned, at_one_moment_what_is_free_stays_free, .init = start)
{
	struct purse *tokens = &fleet.ledger.purse[PURSE_TOKENS];

	told(9, 80, 0, 0);
	told(0, 0, 0, 100000);
	cr_assert_eq(answer.grant[PURSE_TOKENS], 100000);
	tokens->free = 3000000;
	told(0, 0, 0, 0);
	cr_assert_eq(tokens->free, 3000000);
}

/* Or who has half of his lease by answers would live by the reserve from their end to the next
 * look. */
Test(lease_earned, a_lease_does_not_end_with_them_before_the_host_looks_again)
{
	const struct holder held = { .until = 9 * NS_PER_S,
		                     .held = { 5000, 1 },
		                     .earned = 3000,
		                     .earned_until = 2 * NS_PER_S };
	struct asker asker;

	asker_begin(&asker, 1, NS_PER_S, 0);
	asker.holder = held;
	for (int64_t now = NS_PER_S; now < 3 * NS_PER_S; now += NS_PER_S * 55 / 100) {
		asker_expire(&asker, now);
		cr_assert_gt(holder_until(&asker.holder), now + NS_PER_S * 55 / 100);
		cr_assert_eq(asker.holder.held[PURSE_TOKENS], now > NS_PER_S ? 2000 : 5000);
	}
	cr_assert_eq(asker.holder.held[PURSE_PROBES], 1);
}

Test(lease_earned, what_an_agent_before_held_does_not_last_longer_either)
{
	struct holder holder = { .life = 1 };

	holder_adopt(&holder, 3000, 1, 5);
	cr_assert_eq(holder_until(&holder), 5);
	holder.until = 9;
	holder_expire(&holder, 5);
	cr_assert_eq(holder.held[PURSE_TOKENS], 0);
	cr_assert_eq(holder.held[PURSE_PROBES], 1);
}

Test(lease_earned, a_host_tells_of_no_more_than_its_lease_let_go_and_once)
{
	const struct asker_seen claims = { .won = 50, .lost = 2, .spent = 3000, .probed = 1 };
	struct asker asker;
	struct ledger_ask ask;

	asker_begin(&asker, 1, NS_PER_S, 0);
	asker_note(&asker, &claims, 1);
	asker_note(&asker, &(struct asker_seen) { .won = 50 }, 2);
	asker_ask(&asker, 0, 3, &ask);
	cr_assert_eq(ask.won, 2);
	cr_assert_eq(ask.lost, 2);
	holder_lose(&asker.holder);
	asker_ask(&asker, 0, 4, &ask);
	cr_assert_eq(ask.won + ask.lost, 0, "a lost one is not told again");
}

Test(lease_earned, a_fleet_comes_back_by_what_answers_earn)
{
	struct fleet_rule rule = fleet_rule;

	rule.hosts = 10000;
	rule.leased = 900000;
	cr_expect_eq(fleet_return(&rule, 1000), 12750);
	rule.hosts = 500;
	cr_expect_eq(fleet_return(&rule, 1000), 5250, "500 hosts: 6 s");
	rule.hosts = 18;
	cr_expect_eq(fleet_return(&rule, 1000), 1500);
	rule.hosts = FLEET_HOSTS_MOST;
	rule.floor = rule.leased = 1;
	cr_expect_lt(fleet_return(&rule, 1), INT64_MAX / 2);
}
