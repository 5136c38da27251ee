/* SPDX-License-Identifier: MIT */
/* Answers that are lost, hosts that die, servers that forget, clocks that step: never more goes
 * than the rule says. */
#include "lease_fixture.h"

#include "sys/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct fleet fleet;

Test(lease_faults, a_new_ledger_learns_for_a_lifetime_and_a_quarter)
{
	memset(&fleet, 0, sizeof(fleet));
	ledger_set(&fleet.ledger, &fleet_rule);
	fleet.hosts[0].life = 1;
	for (; fleet.ms < 25000; fleet.ms += 1000) {
		cr_assert_eq(sync_host(&fleet, 0, 5000, 1), 0);
		cr_assert(fleet.ms < 24000 ? fleet.last.learning : true);
		cr_assert_eq(fleet.hosts[0].held[PURSE_PROBES], 0);
	}
	for (int64_t got = 0; got == 0; fleet.ms += 1000) {
		got = sync_host(&fleet, 0, 5000, 0);
		cr_assert_lt(fleet.ms, 28000);
	}
}

Test(lease_faults, after_amnesia_hosts_keep_what_they_hold_and_nobody_gets_more)
{
	int64_t epoch;

	fleet_start(&fleet, &fleet_rule, 10000);
	epoch = fleet.ledger.epoch;
	sync_host(&fleet, 0, 40000, 0);
	memset(&fleet.ledger, 0, sizeof(fleet.ledger)); /* FLUSHALL, and the rule set again */
	memset(fleet.known, 0, sizeof(fleet.known));
	ledger_set(&fleet.ledger, &fleet_rule);
	for (int s = 0; s < 24; s++) {
		fleet.ms += 1000;
		cr_assert_eq(sync_host(&fleet, 0, 60000, 1), 0);
		cr_assert_eq(sync_host(&fleet, 1, 60000, 1), 0);
		cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], 40000);
	}
	cr_assert_gt(fleet.ledger.epoch, epoch);
	fleet.ms += 2000;
	sync_host(&fleet, 1, 60000, 0);
	fleet.ms += 1000;
	cr_assert_gt(sync_host(&fleet, 1, 60000, 0), 0);
	cr_assert_leq(fleet.hosts[1].held[PURSE_TOKENS], 60000);
}

Test(lease_faults, a_server_that_did_not_write_the_ledger_learns)
{
	fleet_start(&fleet, &fleet_rule, 10000);
	fleet.forgets = true; /* a replica was promoted */
	cr_assert_eq(sync_host(&fleet, 0, 10000, 0), 0);
	cr_assert(fleet.last.learning);
}

Test(lease_faults, a_host_that_remembers_more_makes_the_ledger_learn)
{
	struct fleet before;

	fleet_start(&fleet, &fleet_rule, 10000);
	sync_host(&fleet, 0, 10000, 0);
	before = fleet;
	fleet.ms += 1000;
	sync_host(&fleet, 0, 50000, 0);
	fleet.ledger = before.ledger; /* that is lost, by the very server that wrote it */
	memcpy(fleet.known, before.known, sizeof(fleet.known));
	fleet.ms += 1000;
	sync_host(&fleet, 0, 60000, 0);
	cr_assert(fleet.last.learning);
	cr_assert_eq(sync_host(&fleet, 1, 10000, 0), 0);
}

Test(lease_faults, a_younger_epoch_that_a_host_knows_makes_the_ledger_learn)
{
	fleet_start(&fleet, &fleet_rule, 10000);
	fleet.hosts[0].epoch = fleet.ledger.epoch + 5;
	cr_assert_eq(sync_host(&fleet, 0, 10000, 0), 0);
	cr_assert(fleet.last.learning);
	cr_assert_gt(fleet.hosts[0].epoch, 0);
}

Test(lease_faults, a_request_counts_once)
{
	const int64_t nothing[PURSES] = { 0 };
	struct ledger_ask ask;
	int64_t before;

	fleet_start(&fleet, &fleet_rule, 10000);
	sync_host(&fleet, 0, 80000, 0);
	holder_ask(&fleet.hosts[0], nothing, boot_of(&fleet), &ask);
	cr_assert_eq(ask.back[PURSE_TOKENS], 40000);
	at_server(&fleet, 0, &ask);
	before = fleet.ledger.purse[PURSE_TOKENS].free;
	cr_assert_eq(at_server(&fleet, 0, &ask).status, LEDGER_STALE);
	cr_assert_eq(fleet.ledger.purse[PURSE_TOKENS].free, before);
}

Test(lease_faults, nobody_gives_back_more_than_he_had)
{
	const int64_t nothing[PURSES] = { 0 };
	struct ledger_ask ask;

	fleet_start(&fleet, &fleet_rule, 10000);
	sync_host(&fleet, 0, 10000, 0);
	sync_host(&fleet, 1, 80000, 0);
	sync_host(&fleet, 2, 10000, 0);
	holder_spend(&fleet.hosts[2], PURSE_TOKENS, 10000);
	sync_host(&fleet, 2, 0, 0);
	holder_ask(&fleet.hosts[0], nothing, boot_of(&fleet), &ask);
	ask.back[PURSE_TOKENS] = 90000;
	at_server(&fleet, 0, &ask);
	cr_assert_eq(fleet.ledger.purse[PURSE_TOKENS].free, 5000 * 1000);
	ask.number++;
	ask.held[PURSE_TOKENS] = -5;
	ask.back[PURSE_TOKENS] = INT64_MAX;
	at_server(&fleet, 0, &ask);
	cr_assert_leq(fleet.ledger.purse[PURSE_TOKENS].free, 10000 * 1000);
}

Test(lease_faults, an_answer_counts_from_when_it_was_asked_for_and_not_after_its_life)
{
	const int64_t wants[PURSES] = { 10000, 0 };
	struct ledger_ask ask;
	struct ledger_answer answer;
	int64_t asked;

	fleet_start(&fleet, &fleet_rule, 10000);
	asked = boot_of(&fleet);
	holder_ask(&fleet.hosts[0], wants, asked, &ask);
	answer = at_server(&fleet, 0, &ask);
	cr_assert(holder_answer(&fleet.hosts[0], &answer, asked + 5 * NS_PER_S));
	cr_assert_eq(fleet.hosts[0].until, asked + 20 * NS_PER_S);
	cr_assert_not(holder_answer(&fleet.hosts[0], &answer, asked + 6 * NS_PER_S), "once");
	cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], 10000);
	holder_ask(&fleet.hosts[0], wants, asked + 7 * NS_PER_S, &ask);
	answer.grant[PURSE_TOKENS] = 5000;
	cr_assert_not(holder_answer(&fleet.hosts[0], &answer, asked + 27 * NS_PER_S));
	cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], 0, "all has run out");
}

Test(lease_faults, what_a_lost_answer_granted_nobody_spends_and_time_fills)
{
	const int64_t wants[PURSES] = { 100000, 0 };
	struct ledger_ask ask;

	fleet_start(&fleet, &fleet_rule, 10000);
	holder_ask(&fleet.hosts[0], wants, boot_of(&fleet), &ask);
	cr_assert_eq(at_server(&fleet, 0, &ask).grant[PURSE_TOKENS], 100000);
	holder_lose(&fleet.hosts[0]);
	fleet.ms += 1000;
	cr_assert_eq(sync_host(&fleet, 1, 100000, 0), 0);
	fleet.ms += 1000;
	sync_host(&fleet, 0, 0, 0); /* has nothing, and says so */
	fleet.ms += 2000;
	cr_assert_gt(sync_host(&fleet, 1, 100000, 0), 0);
}

Test(lease_faults, the_tokens_of_a_dead_host_return)
{
	int64_t got = 0, waited = 0;

	fleet_start(&fleet, &fleet_rule, 10000);
	sync_host(&fleet, 0, 100000, 0);
	for (; got < 20000 && waited < 60000; waited += 1000) {
		fleet.ms += 1000;
		got += sync_host(&fleet, 1, 100000, 0);
		cr_assert(waited > 20000 || got == 0, "not before its lease has run out");
	}
	cr_assert_lt(waited, 40000);
}

Test(lease_faults, a_new_agent_adopts_what_the_cells_still_hold)
{
	struct ledger_ask ask;
	const int64_t wants[PURSES] = { 30000, 0 };

	fleet_start(&fleet, &fleet_rule, 10000);
	sync_host(&fleet, 0, 30000, 0);
	fleet.hosts[0] = (struct holder) { .life = 77 };
	holder_adopt(&fleet.hosts[0], 20000, 0, boot_of(&fleet) + 9 * NS_PER_S);
	holder_ask(&fleet.hosts[0], wants, boot_of(&fleet), &ask);
	cr_assert_eq(ask.held[PURSE_TOKENS], 20000);
	at_server(&fleet, 0, &ask);
	holder_expire(&fleet.hosts[0], boot_of(&fleet) + 9 * NS_PER_S);
	cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], 0);
}

Test(lease_faults, a_step_of_the_servers_clock_makes_no_lease_run_out)
{
	fleet_start(&fleet, &fleet_rule, 10000);
	sync_host(&fleet, 0, 100000, 0);
	fleet.step = 3600000;
	cr_assert_eq(sync_host(&fleet, 1, 100000, 0), 0);
	fleet.step = -3600000;
	cr_assert_eq(sync_host(&fleet, 1, 100000, 0), 0);
	fleet.ms += 100;
	cr_assert_eq(sync_host(&fleet, 1, 100000, 0), 0);
}

/* For 24 s nothing is lent beside what a host holds by a lifetime of 10 s. forgets_at: ms after
 * which the server loses its memory, 0: never. */
static void learns(int64_t lifetime, int64_t forgets_at)
{
	struct fleet_rule rule = fleet_rule;

	fleet_start(&fleet, &fleet_rule, 10000);
	sync_host(&fleet, 0, 90000, 0);
	rule.generation = 2;
	rule.lifetime = lifetime;
	cr_assert(ledger_set(&fleet.ledger, &rule));
	for (int64_t ms = 500; ms <= 24000; ms += 500) {
		fleet.ms += 500;
		fleet.forgets = ms == forgets_at;
		cr_assert_eq(sync_host(&fleet, 1, 90000, 0), 0, "after %d ms", (int)ms);
	}
}

Test(lease_faults, another_lifetime_is_learnt)
{
	learns(8000, 0);
}

/* What was lent by the longer lifetime still runs. */
Test(lease_faults, a_server_that_starts_anew_does_not_learn_for_less)
{
	learns(4000, 2000);
}

/* The last half of a roll-out: host 0 holds all of the old rule, and renews it. */
static void two_rules(int64_t capacity)
{
	const int64_t most = greater(fleet_rule.capacity, capacity);
	struct fleet_rule rule = fleet_rule;

	fleet_start(&fleet, &fleet_rule, 10000);
	for (int i = 0; i < 10; i++)
		sync_host(&fleet, 0, fleet_rule.capacity, 0);
	cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], fleet_rule.capacity);
	rule.generation = 2;
	rule.capacity = capacity;
	cr_assert(ledger_set(&fleet.ledger, &rule));
	for (int s = 0; s < 160; s++) {
		int64_t held = 0;

		fleet.ms += 500;
		sync_host(&fleet, 1, FLEET_CAPACITY_MOST, 0);
		if (s < 50) /* and then it is dead */
			sync_host(&fleet, 0, FLEET_CAPACITY_MOST, 0);
		for (int i = 0; i < 2; i++) {
			holder_expire(&fleet.hosts[i], boot_of(&fleet));
			held += fleet.hosts[i].held[PURSE_TOKENS];
		}
		cr_assert_leq(held + fleet.ledger.purse[PURSE_TOKENS].free / 1000, most, "at %d",
		              s);
	}
	cr_assert_eq(fleet.hosts[0].held[PURSE_TOKENS], 0);
	cr_assert_eq(fleet.hosts[1].held[PURSE_TOKENS], capacity);
}

Test(lease_faults, two_rules_of_which_leases_run_do_not_add)
{
	two_rules(60000);
	two_rules(150000);
}

/* What went, by the tenth of a second, in mt and probes. */
#define TENTHS 6000
static int64_t went[PURSES][TENTHS];

/* A window that sees more than it may; 0 if none does. */
static int64_t too_much(int purse, int64_t capacity, int64_t per_tenth, int64_t parts)
{
	int64_t most = 0, sum = 0;

	/* The sum over a window less what time adds to it: its greatest is at most the capacity. */
	for (int t = 0; t < TENTHS; t++) {
		sum = greater(sum, 0) + went[purse][t] * parts - per_tenth;
		most = greater(most, sum);
	}
	return greater(most - capacity * parts, 0);
}

struct flight {
	bool is_there;
	int host;
	int64_t arrives; /* ms */
	struct ledger_ask ask;
};

#define FLIGHTS 64

static struct flight flights[FLIGHTS];
static uint64_t dice;

static bool one_in(int64_t n)
{
	return random_upto(&dice, n - 1) == 0;
}

static void send_off(int host, const struct ledger_ask *ask, int64_t delay)
{
	for (int i = 0; i < FLIGHTS; i++)
		if (!flights[i].is_there) {
			flights[i] = (struct flight) { true, host, fleet.ms + delay, *ask };
			return;
		}
}

static void ask_for_more(int i)
{
	const int64_t wants[PURSES] = { random_upto(&dice, 3) * 20000, random_upto(&dice, 1) };
	struct ledger_ask ask;

	if (fleet.hosts[i].asked_at != 0)
		holder_lose(&fleet.hosts[i]); /* it has waited long enough */
	holder_ask(&fleet.hosts[i], wants, boot_of(&fleet), &ask);
	if (!one_in(10))
		send_off(i, &ask, random_upto(&dice, 15) * 100);
	if (one_in(10)) /* twice, and late */
		send_off(i, &ask, random_upto(&dice, 300) * 100);
}

static void arrive(struct flight *flight, int64_t *dead)
{
	struct holder *holder = &fleet.hosts[flight->host];
	struct ledger_answer answer = at_server(&fleet, flight->host, &flight->ask);

	flight->is_there = false;
	if (fleet.ms < dead[flight->host] || one_in(8) || holder->life != flight->ask.life ||
	    holder->number != flight->ask.number)
		return;
	holder_answer(holder, &answer, boot_of(&fleet));
}

/* Any of what can happen to the server: it forgets, or remembers what was. */
static void hurt_the_server(const struct fleet *before)
{
	if (one_in(2)) {
		memset(&fleet.ledger, 0, sizeof(fleet.ledger));
		memset(fleet.known, 0, sizeof(fleet.known));
		ledger_set(&fleet.ledger, &fleet_rule);
	} else {
		fleet.ledger = before->ledger;
		memcpy(fleet.known, before->known, sizeof(fleet.known));
	}
	fleet.forgets = true;
}

static void spend_some(int i, int t)
{
	struct holder *holder = &fleet.hosts[i];
	int64_t tokens;

	holder_expire(holder, boot_of(&fleet));
	tokens = one_in(3) ? holder->held[PURSE_TOKENS] : lesser(holder->held[PURSE_TOKENS], 1000);
	went[PURSE_TOKENS][t] += tokens;
	holder_spend(holder, PURSE_TOKENS, tokens);
	if (one_in(3)) {
		went[PURSE_PROBES][t] += holder->held[PURSE_PROBES];
		holder_spend(holder, PURSE_PROBES, 1);
	}
}

/* Ten minutes in which everything goes wrong. Returns what went. */
static int64_t play_chaos(uint64_t seed, int64_t server_hurts)
{
	int64_t dead[8] = { 0 }, all = 0;
	static struct fleet before;

	dice = seed;
	memset(went, 0, sizeof(went));
	memset(flights, 0, sizeof(flights));
	fleet_start(&fleet, &fleet_rule, 30000);
	before = fleet;
	for (int t = 0; t < TENTHS; t++, fleet.ms += 100) {
		for (int i = 0; i < FLIGHTS; i++)
			if (flights[i].is_there && flights[i].arrives <= fleet.ms)
				arrive(&flights[i], dead);
		if (one_in(100))
			before = fleet;
		if (server_hurts && one_in(server_hurts))
			hurt_the_server(&before);
		if (one_in(200))
			fleet.step -= random_upto(&dice, 100000);
		for (int i = 0; i < 8; i++) {
			if (fleet.ms < dead[i])
				continue;
			if (one_in(2000)) { /* it dies, and comes again as another */
				dead[i] = fleet.ms + random_upto(&dice, 40000);
				fleet.hosts[i] =
				    (struct holder) { .life = fleet.hosts[i].life + 100 };
				continue;
			}
			if (one_in(10))
				ask_for_more(i);
			spend_some(i, t);
		}
	}
	for (int t = 0; t < TENTHS; t++)
		all += went[PURSE_TOKENS][t];
	return all;
}

Test(lease_faults, no_window_sees_more_than_the_bound_whatever_happens)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		int64_t all = play_chaos(seed, seed % 2 ? 0 : 600);

		cr_assert_eq(too_much(PURSE_TOKENS, 100000, 2000, 1), 0, "seed %d: %ld mt more",
		             (int)seed, (long)too_much(PURSE_TOKENS, 100000, 2000, 1));
		cr_assert_eq(too_much(PURSE_PROBES, 1, 1, 100), 0, "seed %d", (int)seed);
		cr_assert(all > (seed % 2 ? 600 * 5000 : 100000), "seed %d: only %ld went",
		          (int)seed, (long)all);
	}
}
