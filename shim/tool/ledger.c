/* SPDX-License-Identifier: MIT */
/* One request at a time: time passes, what the host says is written down, and it gets its part.
 * Line by line as in conf/fleet/retrybudget.lua; a change here is one there. */
#include "tool/ledger.h"

#define WHOLE     INT64_C(1000000) /* ppm */
#define PRESS_ONE INT64_C(16)      /* parts of one in which the pressure is counted */
#define PRESS_TOP INT64_C(8192)
#define LONG      INT64_C(1000000000) /* ms; longer is as long */

/* Of a retry by a lease, where the destination takes all that comes, and where it does not: mt that
 * an answer earns there, and that a failure takes away. */
#define FINE      INT64_C(750)
#define FULL_PART INT64_C(8) /* it does not where more than one of so many fails */
#define FULL_EARN INT64_C(900)
#define FULL_FINE INT64_C(250)

/* What is counted in a purse. */
struct measure {
	int64_t capacity; /* counts */
	int64_t scale;    /* parts of a count */
	int64_t per_ms;   /* parts */
	int64_t whole;    /* counts that are granted at once */
};

static struct measure measure_of(const struct fleet_rule *rule, int purse)
{
	if (purse == PURSE_PROBES)
		return (struct measure) { 1, rule->probe, 1, 1 };
	return (struct measure) { fleet_leased_capacity(rule), 1000, fleet_leased_floor(rule),
		                  FLEET_TOKEN };
}

static int64_t held_by_all(const struct purse *purse)
{
	int64_t sum = 0;

	for (int i = 0; i < LEDGER_WINDOWS; i++)
		sum += purse->out[i];
	return sum;
}

/* Rule 1. */
static void clamp_free(struct purse *purse, const struct measure *of)
{
	int64_t room = (of->capacity - held_by_all(purse)) * of->scale;

	purse->free = lesser(purse->free, greater(room, 0));
}

static void pass_time(struct ledger *ledger, struct purse *purse, const struct measure *of,
                      int64_t gap)
{
	const int64_t eighth = ledger->rule.lifetime / 8, quarter = ledger->rule.lifetime / 4;
	const int64_t one = of->whole * of->scale, now = ledger->time + gap;
	const bool was_ready = purse->free >= one;

	if (ledger->time >= ledger->learning) {
		purse->free += of->per_ms * gap;
		clamp_free(purse, of);
	}
	if (!was_ready && purse->free >= one)
		purse->ready = now;
	if (now / quarter != ledger->time / quarter)
		purse->out[now / quarter % LEDGER_WINDOWS] = 0;
	if (now / eighth != ledger->time / eighth) {
		purse->wanted = purse->now_want;
		purse->now_want = 0;
	}
}

static void advance(struct ledger *ledger, int64_t clock)
{
	const int64_t gap = within(clock - ledger->clock, 0, ledger->rule.lifetime / 8);
	const int64_t quarter = ledger->rule.lifetime / 4, eighth = ledger->rule.lifetime / 8;

	ledger->clock = clock;
	if (gap == 0)
		return;
	for (int i = 0; i < PURSES; i++) {
		struct measure of = measure_of(&ledger->rule, i);

		pass_time(ledger, &ledger->purse[i], &of, gap);
	}
	if ((ledger->time + gap) / quarter != ledger->time / quarter) {
		ledger->good /= 2;
		ledger->bad /= 2;
	}
	if ((ledger->time + gap) / eighth != ledger->time / eighth) {
		ledger->earned_before = greater(ledger->earned, 0);
		ledger->earned = lesser(ledger->earned, 0);
		ledger->won_before = ledger->won;
		ledger->lost_before = ledger->lost;
		ledger->won = ledger->lost = 0;
	}
	ledger->time += gap;
}

/* Rule 6. An epoch is younger than every other that anybody has heard of. */
static void learn(struct ledger *ledger, int64_t clock_us, int64_t heard_of)
{
	const bool is_new = ledger->epoch == 0;

	ledger->epoch = greater(clock_us, greater(ledger->epoch, heard_of) + 1);
	if (is_new) {
		ledger->success = -1;
		ledger->born = ledger->epoch;
	}
	ledger->learning = greater(ledger->learning, ledger->time + ledger->rule.lifetime / 4 * 5);
	ledger->earned = ledger->earned_before = 0;
	for (int i = 0; i < PURSES; i++)
		ledger->purse[i].free = 0;
}

static void note_outcomes(struct ledger *ledger, const struct ledger_ask *ask)
{
	ledger->good = lesser(ledger->good + within(ask->good, 0, LONG), LONG);
	ledger->bad = lesser(ledger->bad + within(ask->bad, 0, LONG), LONG);
	if (ask->success_age >= 0)
		ledger->success = greater(
		    ledger->success, greater(ledger->time - lesser(ask->success_age, LONG), 0));
}

static int64_t hosts_that_want(const struct purse *purse)
{
	return greater(greater(purse->now_want, purse->wanted), 1);
}

/* Of what is taken away the oldest goes first. */
static void take_earned(struct ledger *ledger, int64_t mt)
{
	const int64_t before = lesser(ledger->earned_before, mt);

	ledger->earned_before -= before;
	ledger->earned = greater(ledger->earned - (mt - before), -FLEET_DEBT);
}

static bool is_full(const struct ledger *ledger)
{
	const int64_t lost = ledger->lost + ledger->lost_before;

	return lost * FULL_PART > lost + ledger->won + ledger->won_before;
}

/* Rule 7. */
static void note_retries(struct ledger *ledger, const struct ledger_ask *ask)
{
	const int64_t won = within(ask->won, 0, LONG), lost = within(ask->lost, 0, LONG);
	const int64_t most = greater(fleet_leased_capacity(&ledger->rule),
	                             hosts_that_want(&ledger->purse[PURSE_TOKENS]) * FLEET_TOKEN);
	int64_t more;

	ledger->won = lesser(ledger->won + won, LONG);
	ledger->lost = lesser(ledger->lost + lost, LONG);
	more = is_full(ledger) ? won * FULL_EARN - lost * FULL_FINE
	                       : fleet_earned(won * FLEET_TOKEN) - lost * FINE;
	if (more > 0)
		ledger->earned = greater(
		    ledger->earned, lesser(ledger->earned + more, most - ledger->earned_before));
	else
		take_earned(ledger, -more);
}

/* A host's part of what answers have earned: one, or an equal one. */
static int64_t grant_earned(struct ledger *ledger, int64_t wants)
{
	const int64_t all = ledger->earned + ledger->earned_before;
	const int64_t hosts = hosts_that_want(&ledger->purse[PURSE_TOKENS]);
	const int64_t part = greater(all / hosts, FLEET_TOKEN);
	int64_t mt = lesser(lesser(wants, part), greater(all, 0));

	mt -= mt % FLEET_TOKEN;
	take_earned(ledger, mt);
	return mt;
}

/* The part of a host that got something `since` ms ago, in whole ones. */
static int64_t part_of(const struct ledger *ledger, const struct purse *purse,
                       const struct measure *of, int64_t since)
{
	const int64_t eighth = ledger->rule.lifetime / 8, one = of->whole * of->scale;
	const int64_t hosts = hosts_that_want(purse), base = greater(of->per_ms * 1000, one);
	const int64_t press = within(purse->free * PRESS_ONE / base, PRESS_ONE, PRESS_TOP);
	int64_t part = of->per_ms * lesser(since, eighth) / hosts * press / PRESS_ONE / of->scale;
	int64_t turn, lain, left;

	part -= part % of->whole;
	if (part > 0 || purse->free < one)
		return part;
	turn = lesser(hosts * one / of->per_ms * PRESS_ONE / press, LONG);
	/* Of many the one that lies there longest. */
	lain = greater(ledger->time - purse->ready, (purse->free - one) / of->per_ms);
	left = 2 * (eighth - lesser(lain, eighth));
	return lesser(since, LONG) * eighth >= turn * lesser(left, eighth) ? of->whole : 0;
}

static int64_t grant(struct ledger *ledger, struct ledger_host *host, int i, int64_t wants,
                     int64_t *earned)
{
	const struct measure of = measure_of(&ledger->rule, i);
	const int64_t eighth = ledger->rule.lifetime / 8;
	struct purse *purse = &ledger->purse[i];
	int64_t part;

	wants = within(wants, 0, of.capacity);
	wants = (wants + of.whole - 1) / of.whole * of.whole;
	if (wants == 0)
		return 0;
	if (host->purse[i].wanted < 0 || host->purse[i].wanted / eighth != ledger->time / eighth)
		purse->now_want++;
	host->purse[i].wanted = ledger->time;
	if (ledger->time < ledger->learning)
		return 0;
	part = part_of(ledger, purse, &of, ledger->time - host->purse[i].served);
	part = lesser(lesser(wants, part), purse->free / of.scale);
	part -= part % of.whole;
	if (part > 0) {
		purse->free -= part * of.scale;
		purse->ready = ledger->time;
	}
	if (i == PURSE_TOKENS)
		*earned = grant_earned(ledger, wants - part);
	if (part + *earned > 0)
		host->purse[i].served = ledger->time;
	return part + *earned;
}

/* What the host says that it holds takes the place of what it was thought to hold. */
static int64_t write_down(struct ledger *ledger, struct ledger_host *host,
                          const struct ledger_ask *ask, int i, bool is_known)
{
	const struct measure of = measure_of(&ledger->rule, i);
	const int64_t now = ledger->time / (ledger->rule.lifetime / 4);
	const int64_t then = host->time / (ledger->rule.lifetime / 4);
	const int64_t held = within(ask->held[i], 0, of.capacity);
	struct purse *purse = &ledger->purse[i];
	int64_t *out = &purse->out[then % LEDGER_WINDOWS], most = host->purse[i].out;

	if (is_known && now - then < LEDGER_WINDOWS) {
		*out = greater(*out - most, 0);
		if (ledger->time >= ledger->learning)
			purse->free += within(ask->back[i], 0, greater(most - held, 0)) * of.scale;
	}
	purse->out[now % LEDGER_WINDOWS] += held;
	clamp_free(purse, &of);
	return held;
}

static void serve(struct ledger *ledger, struct ledger_host *host, const struct ledger_ask *ask,
                  bool is_known, struct ledger_answer *answer)
{
	const int64_t now = ledger->time / (ledger->rule.lifetime / 4) % LEDGER_WINDOWS;

	for (int i = 0; i < PURSES; i++) {
		int64_t held = write_down(ledger, host, ask, i, is_known), earned = 0;

		if (!is_known) {
			host->purse[i].served = ledger->time - ledger->rule.lifetime / 8;
			host->purse[i].wanted = -1;
		}
		answer->grant[i] = grant(ledger, host, i, ask->wants[i], &earned);
		answer->earned += earned;
		ledger->purse[i].out[now] += answer->grant[i];
		host->purse[i].out = held + answer->grant[i];
	}
	host->life = ask->life;
	host->born = ledger->born;
	host->number = ask->number;
	host->time = ledger->time;
}

static void tell(const struct ledger *ledger, struct ledger_answer *answer)
{
	const struct purse *tokens = &ledger->purse[PURSE_TOKENS];
	const struct purse *probes = &ledger->purse[PURSE_PROBES];
	const int64_t sum = ledger->good + ledger->bad, hosts = hosts_that_want(tokens);

	answer->epoch = ledger->epoch;
	answer->generation = ledger->rule.generation;
	answer->lifetime = ledger->rule.lifetime;
	answer->learning = ledger->time < ledger->learning;
	answer->keep = fleet_leased_capacity(&ledger->rule);
	if (hosts > 1 && tokens->free < FLEET_TOKEN * 1000)
		answer->keep = greater(answer->keep / hosts, FLEET_TOKEN);
	answer->waiting = greater(greater(tokens->now_want, tokens->wanted),
	                          greater(probes->now_want, probes->wanted));
	answer->success_age = ledger->success < 0 ? -1 : ledger->time - ledger->success;
	answer->failing = sum == 0 ? -1 : ledger->bad * WHOLE / sum;
}

void ledger_sync(struct ledger *ledger, struct ledger_host *host, const struct ledger_ask *ask,
                 int64_t clock_us, bool remembers, struct ledger_answer *answer)
{
	/* A record of a ledger that was lost, by whose time it was written, says nothing here. */
	const bool is_known = host->life == ask->life && host->born == ledger->born;

	*answer = (struct ledger_answer) { .status = LEDGER_NO_RULE };
	if (ledger->rule.generation == 0)
		return;
	advance(ledger, clock_us / 1000);
	if (!remembers || ledger->epoch == 0 || ask->epoch > ledger->epoch ||
	    (ask->epoch == ledger->epoch && is_known && ask->heard > host->number))
		learn(ledger, clock_us, ask->epoch);
	answer->status = is_known && ask->number <= host->number ? LEDGER_STALE : LEDGER_GOOD;
	if (answer->status == LEDGER_GOOD) {
		note_outcomes(ledger, ask);
		if (is_known && ledger->time >= ledger->learning)
			note_retries(ledger, ask);
		serve(ledger, host, ask, is_known, answer);
	}
	tell(ledger, answer);
}

bool ledger_set(struct ledger *ledger, const struct fleet_rule *rule)
{
	const int64_t before = ledger->rule.lifetime;

	if (!fleet_rule_is_valid(rule) || rule->generation <= ledger->rule.generation)
		return false;
	ledger->rule = *rule;
	if (before != 0 && before != rule->lifetime)
		ledger->learning = greater(ledger->learning,
		                           ledger->time + greater(before, rule->lifetime) / 4 * 5);
	ledger->earned = ledger->earned_before = 0;
	for (int i = 0; i < PURSES; i++) {
		struct purse *purse = &ledger->purse[i];
		const struct measure of = measure_of(rule, i);

		/* Windows of another length: as if all had been said now. */
		if (before != rule->lifetime) {
			int64_t sum = held_by_all(purse);

			for (int j = 0; j < LEDGER_WINDOWS; j++)
				purse->out[j] = 0;
			purse->out[ledger->time / (rule->lifetime / 4) % LEDGER_WINDOWS] = sum;
		}
		clamp_free(purse, &of);
	}
	return true;
}

bool ledger_restore(struct ledger *ledger, const struct fleet_rule *rule, int64_t clock_us)
{
	const int64_t latest = clock_us / 1000 + LEDGER_AHEAD;
	struct fleet_rule both = fleet_rule_merged(&ledger->rule, rule);

	if (ledger->rule.generation == 0) {
		both = *rule;
		both.generation = lesser(rule->generation, latest);
		return ledger_set(ledger, &both);
	}
	if (!fleet_rule_is_valid(rule) || rule->generation < ledger->rule.generation ||
	    fleet_rule_is_same(&both, &ledger->rule))
		return false;
	both.generation = ledger->rule.generation + 1;
	if (fleet_rule_is_same(&both, rule) && rule->generation <= latest)
		both.generation = greater(both.generation, rule->generation);
	return ledger_set(ledger, &both);
}
