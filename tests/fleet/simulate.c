/* SPDX-License-Identifier: MIT */
/*
 * A fleet on a virtual network and clock: the agent's own code (shim/tool/asker.c,
 * shim/tool/holder.c) at each host and the ledger's model (shim/tool/ledger.c) at the server;
 * messages take 1 to 50 ms, one in a hundred is lost. After ten minutes of calm every host wants to
 * retry every destination all the time, and spends what it gets at once; for twenty seconds of that
 * some hosts do not reach the server; then the destinations answer.
 *
 * Prints what came of it; exit status 1 if a destination saw more in some second than the bound, if
 * news take more than a sync and two seconds to nine of ten hosts, or if half of the floor lies
 * idle. Usage: simulate HOSTS DESTINATIONS PARTITIONED_PERCENT
 */
#include "sys/random.h"
#include "tool/asker.h"
#include "tool/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ms */
#define LEARNT  30000
#define TROUBLE 600000
#define CUT     630000
#define HEALED  650000
#define BACK    670000
#define END     680000
#define SYNC    1000
#define SLOTS   4096 /* > any delay */
#define BIN     10

#define BOOT (1000 * NS_PER_S)

enum { TICK, REQUEST, ANSWER };

struct event {
	struct event *next;
	int kind;
	uint32_t host, destination;
	struct ledger_ask ask;
	struct ledger_answer answer;
};

struct pair {
	struct asker asker;
	struct ledger_host known;
	int64_t number;                 /* of the request on its way; 0: none */
	int64_t spent, probed, bad;     /* since the last look */
	int64_t success_at, heard_at;   /* ms, its own and of any; 0: none */
	int64_t next_token, next_probe; /* ms: of the reserve, without a lease; 0: it has one */
	int64_t got;                    /* mt, before anybody was cut off */
	bool is_good;
};

static struct fleet_rule rule = { 1, 100000, 20000, 10000, 0, 900000, 16000 };
static struct pair *pairs;
static struct ledger *ledgers;
static uint32_t *came; /* by destination, in bins */
static struct event *slots[SLOTS], *spare;
static uint32_t hosts, destinations;
static int64_t cut_off, now; /* hosts; ms */
static int64_t commands[END / 1000];
static uint64_t dice = 20251125;

static int64_t ns(int64_t ms)
{
	return BOOT + ms * NS_PER_MS;
}

static struct pair *pair_of(const struct event *event)
{
	return &pairs[(size_t)event->host * destinations + event->destination];
}

static struct event *new_event(int kind, uint32_t host, uint32_t destination)
{
	struct event *event = spare ? spare : malloc(sizeof(*event));

	if (!event)
		abort();
	if (spare)
		spare = spare->next;
	event->kind = kind;
	event->host = host;
	event->destination = destination;
	return event;
}

static void drop(struct event *event)
{
	event->next = spare;
	spare = event;
}

static void at(struct event *event, int64_t ms)
{
	event->next = slots[ms % SLOTS];
	slots[ms % SLOTS] = event;
}

static bool is_cut_off(uint32_t host)
{
	return host < cut_off && now >= CUT && now < HEALED;
}

/* Over a network that loses and delays. */
static void travel(struct event *event)
{
	if (is_cut_off(event->host) || random_upto(&dice, 99) == 0)
		drop(event);
	else
		at(event, now + 1 + random_upto(&dice, 49));
}

static void attempt(struct pair *pair, uint32_t destination, int64_t moment)
{
	came[(size_t)destination * (END / BIN) + (size_t)(moment / BIN)]++;
	if (moment < BACK)
		pair->bad++;
	else
		pair->success_at = moment;
	if (moment >= BACK && pair->heard_at == 0)
		pair->heard_at = moment;
}

/* All of it, at once. */
static void spend(struct pair *pair, uint32_t destination)
{
	const struct holder *holder = &pair->asker.holder;

	if (now < TROUBLE || pair->success_at > 0 || ns(now) >= holder->until)
		return;
	while (pair->success_at == 0 && holder->held[PURSE_TOKENS] - pair->spent >= FLEET_TOKEN) {
		pair->spent += FLEET_TOKEN;
		attempt(pair, destination, now);
	}
	if (pair->success_at == 0 && pair->spent == 0 &&
	    holder->held[PURSE_PROBES] > pair->probed) {
		pair->probed++;
		attempt(pair, destination, now);
	}
}

static void live_alone(struct pair *pair, uint32_t destination)
{
	const int64_t token = rule.hosts * 1000 * 1000 / fleet_reserve(&rule);
	const int64_t probe = rule.hosts * rule.probe;

	if (ns(now) < pair->asker.holder.until || now < TROUBLE || pair->success_at > 0) {
		pair->next_token = pair->next_probe = 0;
		return;
	}
	if (pair->next_token == 0) {
		pair->next_token = now + 1 + random_upto(&dice, token - 1);
		pair->next_probe = now + 1 + random_upto(&dice, probe - 1);
	}
	if (pair->next_token <= now) {
		attempt(pair, destination, pair->next_token);
		pair->next_token += token;
	}
	if (pair->next_probe <= now) {
		attempt(pair, destination, pair->next_probe);
		pair->next_probe += probe;
	}
}

static bool look(uint32_t host, uint32_t destination)
{
	struct pair *pair = &pairs[(size_t)host * destinations + destination];
	const bool waits = now >= TROUBLE && pair->success_at == 0;
	struct event *event;

	asker_note(&pair->asker,
	           &(struct asker_seen) { waits ? 100 : 0, waits, pair->spent, pair->probed,
	                                  pair->success_at > 0, pair->bad,
	                                  pair->success_at > 0 ? ns(pair->success_at) : 0 },
	           ns(now));
	pair->spent = pair->probed = pair->bad = 0;
	if (pair->number > 0 && ns(now) - pair->asker.holder.asked >= 2 * SYNC * NS_PER_MS) {
		holder_lose(&pair->asker.holder);
		pair->number = 0;
		pair->is_good = false;
	}
	spend(pair, destination);
	live_alone(pair, destination);
	if (pair->number == 0 &&
	    asker_is_due(&pair->asker, pair->is_good, rule.lifetime * NS_PER_MS, ns(now))) {
		event = new_event(REQUEST, host, destination);
		asker_ask(&pair->asker, waits, ns(now), &event->ask);
		pair->number = event->ask.number;
		travel(event);
	}
	return pair->asker.is_troubled;
}

static void tick(struct event *event)
{
	bool is_troubled = false;

	for (uint32_t i = 0; i < destinations; i++)
		is_troubled |= look(event->host, i);
	at(event, now + asker_pause(SYNC * NS_PER_MS, is_troubled, &dice) / NS_PER_MS);
}

static void request(struct event *event)
{
	commands[now / 1000]++;
	ledger_sync(&ledgers[event->destination], &pair_of(event)->known, &event->ask,
	            INT64_C(1800000000000000) + now * 1000, true, &event->answer);
	event->kind = ANSWER;
	travel(event);
}

static void answer(struct event *event)
{
	struct pair *pair = pair_of(event);

	if (pair->number == event->ask.number) { /* else it was given up */
		pair->number = 0;
		pair->is_good = event->answer.status == LEDGER_GOOD && !event->answer.learning;
		if (asker_answer(&pair->asker, &event->answer, 60 * NS_PER_S, ns(now)) && now < CUT)
			pair->got += event->answer.grant[PURSE_TOKENS];
		if (pair->heard_at == 0 && pair->asker.news_at >= ns(BACK))
			pair->heard_at = now;
		spend(pair, event->destination);
	}
	drop(event);
}

/* The most in any second. */
static int64_t most_of(uint32_t destination)
{
	const uint32_t *bins = &came[(size_t)destination * (END / BIN)];
	int64_t sum = 0, most = 0;

	for (int i = 0; i < END / BIN; i++) {
		sum += bins[i];
		if (i >= 1000 / BIN)
			sum -= bins[i - 1000 / BIN];
		most = greater(most, sum);
	}
	return most;
}

/* When so many percent of the hosts knew of a success, ms after the first could be; -1: never. */
static int64_t heard_by(int percent)
{
	static int heard[END];
	const size_t count = (size_t)hosts * destinations;
	int64_t sum = 0;

	memset(heard, 0, sizeof(heard));
	for (size_t i = 0; i < count; i++)
		if (pairs[i].heard_at > 0)
			heard[within(pairs[i].heard_at, BACK, END - 1)]++;
	for (int i = BACK; i < END; i++)
		if ((sum += heard[i]) * 100 >= (int64_t)count * percent)
			return i - BACK;
	return -1;
}

static void play(void)
{
	for (now = 0; now < END; now++) {
		struct event *list = slots[now % SLOTS];

		slots[now % SLOTS] = NULL;
		while (list) {
			struct event *event = list;

			list = event->next;
			if (event->kind == TICK)
				tick(event);
			else if (event->kind == REQUEST)
				request(event);
			else
				answer(event);
		}
	}
}

static int report(void)
{
	const int64_t bound = fleet_bound(&rule, 1000) / FLEET_TOKEN;
	const size_t count = (size_t)hosts * destinations;
	int64_t most = 0, calm = 0, troubled = 0, sum = 0, largest = 0;
	double squares = 0;
	bool is_good;

	for (uint32_t i = 0; i < destinations; i++)
		most = greater(most, most_of(i));
	for (int i = LEARNT / 1000; i < TROUBLE / 1000; i++)
		calm += commands[i];
	for (int i = TROUBLE / 1000; i < CUT / 1000; i++)
		troubled += commands[i];
	for (size_t i = 0; i < count; i++) {
		sum += pairs[i].got;
		largest = greater(largest, pairs[i].got);
		squares += (double)pairs[i].got * (double)pairs[i].got;
	}
	printf("%u hosts, %u destinations, %" PRId64 " hosts cut off for %d s\n", hosts,
	       destinations, cut_off, (HEALED - CUT) / 1000);
	printf("  at one destination in a second: %" PRId64 " at most, bound %" PRId64 "\n", most,
	       bound);
	printf("  tokens leased a second: %.1f for each; to a host %.2f in all, %.0f at most; "
	       "fairness (Jain) %.3f\n",
	       (double)sum / destinations / (CUT - TROUBLE),
	       (double)sum / (double)count / FLEET_TOKEN, (double)largest / FLEET_TOKEN,
	       squares > 0 ? (double)sum * (double)sum / ((double)count * squares) : 0);
	printf("  commands a second: calm %" PRId64 ", trouble %" PRId64 "\n",
	       calm / ((TROUBLE - LEARNT) / 1000), troubled / ((CUT - TROUBLE) / 1000));
	printf(
	    "  a success is heard of by half after %.2f s, by 90 %% after %.2f s, by 99 %% after "
	    "%.2f s\n",
	    (double)heard_by(50) / 1000, (double)heard_by(90) / 1000, (double)heard_by(99) / 1000);
	is_good = most <= bound && heard_by(90) >= 0 && heard_by(90) <= SYNC + 2000 &&
	          sum / destinations > rule.floor * (CUT - TROUBLE) / 1000 / 2;
	printf("%d passed, %d failed, 0 skipped\n", is_good, !is_good);
	return !is_good;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	hosts = (uint32_t)strtoul(argv[1], NULL, 10);
	destinations = (uint32_t)strtoul(argv[2], NULL, 10);
	cut_off = (int64_t)hosts * strtol(argv[3], NULL, 10) / 100;
	rule.hosts = hosts;
	pairs = calloc((size_t)hosts * destinations, sizeof(*pairs));
	ledgers = calloc(destinations, sizeof(*ledgers));
	came = calloc((size_t)destinations * (END / BIN), sizeof(*came));
	if (!pairs || !ledgers || !came)
		return 2;
	for (uint32_t i = 0; i < destinations; i++)
		ledger_set(&ledgers[i], &rule);
	for (size_t i = 0; i < (size_t)hosts * destinations; i++)
		asker_begin(&pairs[i].asker, (int64_t)i + 1, SYNC * NS_PER_MS, random_next(&dice));
	for (uint32_t i = 0; i < hosts; i++)
		at(new_event(TICK, i, 0), random_upto(&dice, SYNC - 1));
	play();
	return report();
}
