/* SPDX-License-Identifier: MIT */
/* What becomes of a rule that a ledger has lost and its hosts have not. */
#include "agent/fleet_rules.h"

#include "lease_fixture.h"
#include "sys/random.h"

#include <criterion/criterion.h>

#define NOW    (EPOCH_S * 1000) /* ms */
#define LATEST (NOW + LEDGER_AHEAD)

static struct fleet_rules rules;
static struct ledger ledger;

static struct fleet_rule rule_of(int64_t generation, int64_t capacity, int64_t floor)
{
	struct fleet_rule rule = fleet_rule;

	rule.generation = generation;
	rule.capacity = capacity;
	rule.floor = floor;
	return rule;
}

static struct fleet_rule any_rule(uint64_t *seed, int64_t generation)
{
	return (struct fleet_rule) { .generation = generation,
		                     .capacity = 1000 * (1 + random_upto(seed, 9)),
		                     .floor = 1 + random_upto(seed, 9999),
		                     .probe = 1 + random_upto(seed, 9999),
		                     .hosts = 1 + random_upto(seed, 99),
		                     .leased = random_upto(seed, 1000000),
		                     .lifetime = 4000 + random_upto(seed, 16000) };
}

static void tell(struct fleet_rule rule)
{
	rules_tell(&rules, &rule);
}

static void restored(const struct fleet_rule *rule)
{
	(void)ledger_restore(&ledger, rule, NOW * 1000);
}

static void begin(void)
{
	rules = (struct fleet_rules) { 0 };
	memset(&ledger, 0, sizeof(ledger));
}

static bool is_no_looser(const struct fleet_rule *rule, const struct fleet_rule *than)
{
	return fleet_leased_capacity(rule) <= fleet_leased_capacity(than) &&
	       fleet_leased_floor(rule) <= fleet_leased_floor(than) && rule->floor <= than->floor &&
	       rule->probe >= than->probe && rule->hosts >= than->hosts &&
	       rule->lifetime >= than->lifetime &&
	       fleet_bound(rule, 1000) <= fleet_bound(than, 1000) &&
	       fleet_bound(rule, 60000) <= fleet_bound(than, 60000);
}

Test(fleet_rules, a_newer_one_takes_the_place_of_what_was_known, .init = begin)
{
	tell(rule_of(5, 100000, 20000));
	cr_assert_eq(rules_lost(&rules), 0);
	tell(rule_of(6, 100000, 30000));
	cr_assert_eq(rules_lost(&rules), 0);
	cr_assert_not(rules_are_owed(&rules));
	cr_assert_eq(rules_newest(&rules)->generation, 6);
}

Test(fleet_rules, a_stricter_one_that_is_lost_is_owed_until_the_server_has_answered, .init = begin)
{
	struct ledger_answer answer = { .grant = { 4000, 1 } };
	struct fleet_rule lost = rule_of(6, 100000, 5000);

	lost.probe *= 2;
	tell(lost);
	tell(rule_of(5, 100000, 20000));
	cr_assert_eq(rules_lost(&rules), 6);
	cr_assert(rules_are_owed(&rules));
	rules_hold(&rules, &answer);
	cr_assert_eq(answer.grant[PURSE_TOKENS], 1000, "a quarter");
	cr_assert_eq(answer.grant[PURSE_PROBES], 0);
	rules.is_answered = true;
	cr_assert_not(rules_are_owed(&rules), "an older library has no more to say");
	cr_assert_eq(rules_lost(&rules), 6, "but it is still lost");
	tell(rule_of(5, 100000, 20000));
	cr_assert(rules_are_owed(&rules), "another server, perhaps");
}

Test(fleet_rules, when_it_is_back_nothing_is_lost, .init = begin)
{
	const struct fleet_rule lost = rule_of(6, 100000, 5000);

	tell(lost);
	tell(rule_of(5, 100000, 20000));
	tell(lost);
	cr_assert_eq(rules_lost(&rules), 0);
	cr_assert_eq(rules.newer.generation, 0);
}

/* Made of two, it is stricter than both, but nobody has said it. */
Test(fleet_rules, while_another_stands_in_its_place_it_is_lost_and_nothing_is_owed, .init = begin)
{
	struct ledger_answer answer = { .grant = { 4000, 1 } };

	tell(rule_of(8, 200000, 5000));
	tell(rule_of(5, 100000, 20000));
	cr_assert(rules_are_owed(&rules));
	for (int64_t generation = 6; generation <= 8; generation++) {
		tell(rule_of(generation, 100000, 5000));
		cr_assert_eq(rules_lost(&rules), 8, "one of the same number is another");
		cr_assert_not(rules_are_owed(&rules));
	}
	rules_hold(&rules, &answer);
	cr_assert_eq(answer.grant[PURSE_TOKENS], 4000, "what it lends is the less");
	tell(rule_of(9, 100000, 20000));
	cr_assert_eq(rules_lost(&rules), 0, "one that is set");
}

Test(fleet_rules, one_of_an_older_number_that_says_the_same_is_not_lost, .init = begin)
{
	tell(rule_of(6, 100000, 20000));
	tell(rule_of(3, 100000, 20000));
	cr_assert_eq(rules_lost(&rules), 0);
	cr_assert_not(rules_are_owed(&rules));
	tell(rule_of(5, 100000, 90000));
	cr_assert_eq(rules_lost(&rules), 6, "which came before the one that is known");
	cr_assert(rules_are_owed(&rules));
}

Test(fleet_rules, a_looser_one_that_is_lost_is_not_owed, .init = begin)
{
	tell(rule_of(6, 100000, 20000));
	tell(rule_of(5, 100000, 5000));
	cr_assert_eq(rules_lost(&rules), 6);
	cr_assert_not(rules_are_owed(&rules));
}

Test(fleet_rules, what_is_forgotten_is_not_owed, .init = begin)
{
	tell(rule_of(6, 100000, 5000));
	tell(rule_of(5, 100000, 20000));
	tell((struct fleet_rule) { 0 });
	cr_assert_eq(rules_lost(&rules), 0);
	cr_assert_not(rules_are_owed(&rules));
	cr_assert_eq(rules_newest(&rules)->generation, 0);
	tell(rule_of(4, 100000, 20000));
	cr_assert_eq(rules_lost(&rules), 0);
}

Test(fleet_rules, a_ledger_without_a_rule_gets_the_one_that_is_remembered, .init = begin)
{
	const struct fleet_rule rule = rule_of(6, 100000, 5000);

	restored(&rule);
	cr_assert_eq(ledger.rule.generation, 6);
}

Test(fleet_rules, a_ledger_gets_back_its_own_where_that_is_stricter_in_all, .init = begin)
{
	const struct fleet_rule older = rule_of(5, 100000, 20000), lost = rule_of(9, 100000, 5000);

	ledger_set(&ledger, &older);
	restored(&lost);
	cr_assert_eq(ledger.rule.generation, 9);
	cr_assert_eq(ledger.rule.floor, 5000);
	cr_assert_not(ledger_restore(&ledger, &lost, NOW * 1000), "once");
}

/* So that the number of one that is set, which is a time, is always higher. */
Test(fleet_rules, no_host_brings_a_number_that_has_not_come, .init = begin)
{
	const struct fleet_rule older = rule_of(5, 100000, 20000);
	const struct fleet_rule false_one = rule_of(LATEST + 1, 100000, 5000);
	const struct fleet_rule good = rule_of(LATEST, 100000, 4000);

	ledger_set(&ledger, &older);
	restored(&false_one);
	cr_assert_eq(ledger.rule.floor, 5000);
	cr_assert_eq(ledger.rule.generation, 6);
	restored(&good);
	cr_assert_eq(ledger.rule.generation, LATEST, "a clock may be ahead");
	memset(&ledger, 0, sizeof(ledger));
	restored(&false_one);
	cr_assert_eq(ledger.rule.generation, LATEST, "nor where there was none");
	cr_assert_eq(ledger.rule.floor, 5000);
}

Test(fleet_rules, an_older_one_or_one_out_of_range_changes_nothing, .init = begin)
{
	const struct fleet_rule rule = rule_of(5, 100000, 20000);
	const struct fleet_rule others[] = { rule_of(5, 100000, 20000), rule_of(4, 100000, 1),
		                             rule_of(6, 999, 1), rule_of(6, 100000, 0),
		                             rule_of(6, 100001, 20001) };

	ledger_set(&ledger, &rule);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		cr_assert_not(ledger_restore(&ledger, &others[i], NOW * 1000), "%zu", i);
		cr_assert_eq(memcmp(&ledger.rule, &rule, sizeof(rule)), 0);
	}
}

/* Hosts that remember different rules, in any order, and one that makes up his own. */
Test(fleet_rules, whatever_hosts_remember_the_rule_only_gets_stricter, .init = begin)
{
	uint64_t seed = 7;

	for (int i = 0; i < 20000; i++) {
		struct fleet_rule remembered[4], all, before;

		memset(&ledger, 0, sizeof(ledger));
		all = any_rule(&seed, 1 + random_upto(&seed, 9));
		ledger_set(&ledger, &all);
		for (int j = 0; j < 4; j++) {
			remembered[j] = any_rule(&seed, 20 + random_upto(&seed, 9));
			if (random_upto(&seed, 9) == 0)
				remembered[j].generation = LATEST + 10;
		}
		for (int j = 0; j < 8; j++) {
			const struct fleet_rule *one = &remembered[random_upto(&seed, 3)];
			bool is_changed;

			before = ledger.rule;
			is_changed = ledger_restore(&ledger, one, NOW * 1000);
			cr_assert(is_no_looser(&ledger.rule, &before));
			cr_assert(one->generation < before.generation ||
			          is_no_looser(&ledger.rule, one));
			cr_assert_eq(is_changed, !fleet_rule_is_same(&ledger.rule, &before));
			cr_assert_eq(is_changed, ledger.rule.generation > before.generation);
			cr_assert_leq(
			    ledger.rule.generation,
			    greater(before.generation + 1, lesser(one->generation, LATEST)));
		}
	}
}

/* The host and the ledger, until nothing changes any more: a few calls. */
Test(fleet_rules, host_and_ledger_come_to_an_end, .init = begin)
{
	uint64_t seed = 9;

	for (int i = 0; i < 20000; i++) {
		const struct fleet_rule older = any_rule(&seed, 1 + random_upto(&seed, 5));
		const struct fleet_rule lost = any_rule(&seed, 7 + random_upto(&seed, 1));
		int calls = 0;

		begin();
		ledger_set(&ledger, &older);
		tell(lost);
		for (tell(ledger.rule); rules_are_owed(&rules) && calls < 9;
		     tell(ledger.rule), calls++)
			restored(rules_newest(&rules));
		cr_assert_leq(calls, 1);
		cr_assert(is_no_looser(&ledger.rule, &lost) && is_no_looser(&ledger.rule, &older));
		cr_assert(rules_lost(&rules) == 0 || rules_lost(&rules) == lost.generation);
	}
}
