/* SPDX-License-Identifier: MIT */
/* The fleet's ledger and its hosts: who gets how much. What can go wrong is in test_lease_faults.c.
 */
#include "lease_fixture.h"

#include "sys/random.h"

#include <criterion/criterion.h>

static struct fleet fleet;

/* Whatever was lent by the one, of it no more goes than the other would have lent, or the first. */
Test(lease, of_two_rules_the_stricter_holds)
{
	struct fleet_rule told = fleet_rule, other = fleet_rule;
	uint64_t seed = 3;

	for (int i = 0; i < 100000; i++) {
		int64_t ms = random_upto(&seed, 100000), lent, goes;

		told.capacity = 1000 + random_upto(&seed, FLEET_CAPACITY_MOST - 1000);
		told.floor = 1 + random_upto(&seed, FLEET_FLOOR_MOST - 1);
		other.capacity = 1000 + random_upto(&seed, FLEET_CAPACITY_MOST - 1000);
		other.floor = 1 + random_upto(&seed, FLEET_FLOOR_MOST - 1);
		other.leased = random_upto(&seed, 1000000);
		lent = lesser(fleet_leased_capacity(&told) + fleet_leased_floor(&told) * ms / 1000,
		              FLEET_CAPACITY_MOST);
		goes = fleet_stricter(lent, &told, &other);
		cr_assert(goes >= 0 && goes <= lent);
		cr_assert_leq(goes, fleet_leased_capacity(&other) +
		                        fleet_leased_floor(&other) * ms / 1000 + 1);
		cr_assert_eq(fleet_stricter(lent, &told, &told), lent);
	}
}

Test(lease, the_rule_is_split_into_what_is_leased_and_a_reserve)
{
	struct fleet_rule rule = fleet_rule;

	rule.leased = 800000;
	cr_assert_eq(fleet_leased_capacity(&rule), 80000);
	cr_assert_eq(fleet_leased_floor(&rule), 16000);
	cr_assert_eq(fleet_reserve(&rule), 4000);
	/* One probe that was saved up, one that became due, and one of the hosts without a lease.
	 */
	cr_assert_eq(fleet_bound(&rule, 1000), 80000 + 16000 + 4000 + 3 * 1000);
	cr_assert_eq(fleet_bound(&rule, 0), 80000 + 1000);
	rule.leased = 0;
	cr_assert_eq(fleet_bound(&rule, 1000), 1 + 19999 + 3 * 1000);
}

Test(lease, a_rule_out_of_range_is_none)
{
	struct fleet_rule rule = fleet_rule;

	cr_assert(fleet_rule_is_valid(&rule));
	rule.leased = 1000001;
	cr_assert_not(fleet_rule_is_valid(&rule));
	rule = fleet_rule;
	rule.hosts = 0;
	cr_assert_not(fleet_rule_is_valid(&rule));
	rule = fleet_rule;
	rule.generation = 0;
	cr_assert_not(fleet_rule_is_valid(&rule));
}

Test(lease, an_older_rule_does_not_replace_a_younger)
{
	struct fleet_rule rule = fleet_rule;

	fleet_start(&fleet, &fleet_rule, 0);
	cr_assert_not(ledger_set(&fleet.ledger, &rule));
	rule.generation = 2;
	rule.capacity = 7000;
	cr_assert(ledger_set(&fleet.ledger, &rule));
	cr_assert_leq(fleet.ledger.purse[PURSE_TOKENS].free, 7000 * 1000);
	cr_assert_not(ledger_set(&fleet.ledger, &fleet_rule));
}

Test(lease, who_wants_gets_it_at_once)
{
	fleet_start(&fleet, &fleet_rule, 10000);
	cr_assert_eq(sync_host(&fleet, 0, 30000, 0), 30000);
	cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], 30000);
	cr_assert_eq(fleet.hosts[0].until, boot_of(&fleet) + 20 * NS_PER_S);
}

Test(lease, who_wants_nothing_gets_nothing)
{
	fleet_start(&fleet, &fleet_rule, 10000);
	cr_assert_eq(sync_host(&fleet, 0, 0, 0), 0);
	cr_assert_eq(fleet.hosts[0].held[PURSE_PROBES], 0);
}

/* All that was granted in so many seconds; each host wants so much a second and spends it. */
static void play(int hosts, const int64_t *wants, int64_t *got, int seconds)
{
	for (int s = 0; s < seconds; s++)
		for (int i = 0; i < hosts; i++) {
			got[i] += sync_host(&fleet, i, wants[i], 0);
			holder_spend(&fleet.hosts[i], PURSE_TOKENS, wants[i]);
			fleet.ms += 1000 / hosts;
		}
}

Test(lease, what_the_modest_leave_is_for_those_who_want_more)
{
	int64_t wants[10] = { 100000, 100000 }, got[10] = { 0 }, before[10];

	for (int i = 2; i < 10; i++)
		wants[i] = 1000;
	fleet_start(&fleet, &fleet_rule, 0);
	play(10, wants, got, 30);
	memcpy(before, got, sizeof(got));
	play(10, wants, got, 60);
	/* Of 20 a second eight hosts want one each: the other two share twelve. */
	for (int i = 0; i < 2; i++)
		cr_assert(got[i] - before[i] > 60 * 5000 && got[i] - before[i] < 60 * 6500,
		          "%d: %ld", i, (long)(got[i] - before[i]));
	for (int i = 2; i < 10; i++)
		cr_assert_geq(got[i] - before[i], 57000);
}

Test(lease, small_shares_take_turns_in_whole_tokens)
{
	struct fleet_rule rule = fleet_rule;
	int64_t wants[20], got[20] = { 0 };

	rule.floor = 1000;
	rule.capacity = 10000;
	for (int i = 0; i < 20; i++)
		wants[i] = 10000;
	fleet_start(&fleet, &rule, 0);
	/* What was saved up goes to who asks first. */
	play(20, wants, got, 460);
	for (int i = 0; i < 20; i++)
		cr_assert_geq(got[i], 14000, "%d: %ld", i, (long)got[i]);
	memset(got, 0, sizeof(got));
	play(20, wants, got, 400);
	for (int i = 0; i < 20; i++)
		cr_assert(got[i] >= 19000 && got[i] <= 21000 && got[i] % 1000 == 0, "%d: %ld", i,
		          (long)got[i]);
}

Test(lease, a_grant_shrinks_before_another_grows)
{
	fleet_start(&fleet, &fleet_rule, 10000);
	cr_assert_eq(sync_host(&fleet, 0, 100000, 0), 100000);
	fleet.ms += 1000;
	cr_assert_eq(sync_host(&fleet, 1, 50000, 0), 0, "there is nothing, for all is held");
	fleet.ms += 1000;
	sync_host(&fleet, 0, 100000, 0); /* hears that others wait */
	cr_assert_eq(fleet.hosts[0].keep, 50000);
	fleet.ms += 1000;
	sync_host(&fleet, 0, 100000, 0); /* and gives back */
	cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], 50000);
	fleet.ms += 100;
	cr_assert_geq(sync_host(&fleet, 1, 50000, 0), 20000);
}

Test(lease, what_lies_unused_comes_back)
{
	fleet_start(&fleet, &fleet_rule, 10000);
	sync_host(&fleet, 0, 64000, 0);
	for (int i = 0; i < 8; i++) {
		fleet.ms += 1000;
		sync_host(&fleet, 0, 0, 0);
	}
	cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], 0);
	cr_assert_eq(fleet.ledger.purse[PURSE_TOKENS].free, 100000 * 1000);
}

Test(lease, one_probe_goes_in_each_interval_and_each_host_has_its_turn)
{
	int probes[4] = { 0 };

	fleet_start(&fleet, &fleet_rule, 0);
	for (int s = 0; s < 400; s++, fleet.ms += 1000)
		for (int i = 0; i < 4; i++) {
			sync_host(&fleet, i, 0, 1);
			probes[i] += (int)fleet.hosts[i].held[PURSE_PROBES];
			holder_spend(&fleet.hosts[i], PURSE_PROBES, 1);
		}
	cr_assert(probes[0] + probes[1] + probes[2] + probes[3] >= 33);
	cr_assert(probes[0] + probes[1] + probes[2] + probes[3] <= 41);
	for (int i = 0; i < 4; i++)
		cr_assert(probes[i] >= 7 && probes[i] <= 12, "%d: %d", i, probes[i]);
}

Test(lease, a_probe_that_lies_with_a_dead_host_comes_again)
{
	int64_t waited = 0;

	fleet_start(&fleet, &fleet_rule, 10000);
	sync_host(&fleet, 0, 0, 1);
	fleet.ms += 3000;
	sync_host(&fleet, 0, 0, 1);
	cr_assert_eq(fleet.hosts[0].held[PURSE_PROBES], 1);
	for (; fleet.hosts[1].held[PURSE_PROBES] == 0 && waited < 100000; waited += 1000) {
		fleet.ms += 1000;
		sync_host(&fleet, 1, 0, 1);
	}
	cr_assert(waited >= 20000 && waited <= 45000, "%ld", (long)waited);
}

Test(lease, news_of_a_success_reach_all)
{
	const int64_t wants[PURSES] = { 0 };
	struct ledger_ask ask;
	struct ledger_answer answer;

	fleet_start(&fleet, &fleet_rule, 0);
	sync_host(&fleet, 1, 0, 0);
	cr_assert_eq(fleet.last.success_age, -1);
	holder_ask(&fleet.hosts[0], wants, boot_of(&fleet), &ask);
	ask.good = 3;
	ask.bad = 1;
	ask.success_age = 400;
	at_server(&fleet, 0, &ask);
	fleet.ms += 600;
	holder_ask(&fleet.hosts[1], wants, boot_of(&fleet), &ask);
	answer = at_server(&fleet, 1, &ask);
	cr_assert_eq(answer.success_age, 1000);
	cr_assert_eq(answer.failing, 250000);
}

Test(lease, hosts_that_wait_are_counted)
{
	fleet_start(&fleet, &fleet_rule, 0);
	for (int s = 0; s < 5; s++, fleet.ms += 1000)
		for (int i = 0; i < 7; i++)
			sync_host(&fleet, i, i < 5 ? 100000 : 0, 0);
	cr_assert_eq(fleet.last.waiting, 5);
}

Test(lease, dividing_is_max_min_fair_in_whole_quanta)
{
	const int64_t wants[5] = { 10000, 500, 0, 3000, 10000 };
	int64_t gets[5];

	holder_divide(14500, 1000, wants, gets, 5, 0);
	cr_assert_eq(gets[0], 5000);
	cr_assert_eq(gets[1], 1000);
	cr_assert_eq(gets[2], 0);
	cr_assert_eq(gets[3], 3000);
	cr_assert_eq(gets[4], 5000);
	holder_divide(2000, 1000, wants, gets, 5, 3);
	cr_assert_eq(gets[3], 1000);
	cr_assert_eq(gets[4], 1000);
	cr_assert_eq(gets[0] + gets[1] + gets[2], 0);
	holder_divide(1000000, 1000, wants, gets, 5, 0);
	cr_assert_eq(gets[0], 10000);
	holder_divide(5000, 1000, wants, gets, 0, 0);
}
