/* SPDX-License-Identifier: MIT */
/*
 * A fleet on a virtual network and clock: the agent's own code (shim/tool/asker.c,
 * shim/tool/holder.c) at each host and the ledger's model (shim/tool/ledger.c) at the server;
 * messages take 1 to 50 ms, one in a hundred is lost; what a host asks at one moment is one
 * message, and so is the answer. After some idle minutes every host wants to
 * retry every destination all the time, and spends what it gets at once; for twenty seconds of that
 * some hosts do not reach the server; then the destinations answer, each no more a second than
 * ANSWERS, and who was answered once wants nothing more.
 *
 * Prints what came of it; exit status 1 if a destination saw more in some second of the outage than
 * the bound, or later than that and five quarters of what it has answered (tool/ledger.h, 7); if
 * news take more than a sync and two seconds to nine of ten hosts, if half of the floor lies idle,
 * or if it is not lent again ten seconds after the network is whole; if a destination that answers
 * is not at its full rate within half a minute, or of what comes then more than an eighth fails; or
 * more than a sixth, where the floor alone is more than a quarter of what it can answer.
 * With RELAPSE the destinations fall silent again after so many seconds, and five seconds later no
 * more than the bound may come. Usage: simulate HOSTS DESTINATIONS PARTITIONED_PERCENT
 * [IDLE_SECONDS [ANSWERS [RELAPSE]]]
 */
#include "sys/random.h"
#include "tool/asker.h"
#include "tool/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ms */
#define LEARNT 30000
#define IDLE   600000 /* without another number */
#define ACTIVE idle
#define CUT    (idle + 30000)
#define HEALED (idle + 50000)
#define BACK   (idle + 70000)
#define END    (idle + 70000 + RETURN)
#define RETURN 60000
#define NEWS   10000   /* in which they have to go round */
#define MOST   1000000 /* idle */
#define SYNC   1000
#define SLOTS  4096 /* > any delay */
#define BIN    10

#define BOOT (1000 * NS_PER_S)

enum { TICK, REQUEST, ANSWER };

struct event {
	struct event *next;
	int kind;
	uint32_t host, destination;
	int32_t return_ms; /* what its answer takes; -1: it is lost */
	struct ledger_ask ask;
	struct ledger_answer answer;
};

struct pair {
	struct asker asker;
	struct ledger_host known;
	int64_t number;                  /* of the request on its way; 0: none */
	int64_t spent, probed, bad, won; /* since the last look */
	int64_t success_at, heard_at;    /* ms, its own and of any; 0: none */
	int64_t next_token, next_probe;  /* ms: of the reserve, without a lease; 0: it has one */
	int64_t got;                     /* mt, before anybody was cut off */
	bool is_good;
};

static struct fleet_rule rule = { 1, 100000, 20000, 10000, 0, 900000, 16000 };
static struct pair *pairs;
static struct ledger *ledgers;
static uint32_t *came, *answered;   /* by destination, in bins */
static int64_t *queues, *queued_at; /* by destination: thousandths of attempts that wait, ms */
static int64_t answers;             /* a second, of a destination; 0: as many as come */
static int64_t relapse;             /* ms after they are back; 0: there is none */
static size_t waiting;              /* pairs */
static struct event *slots[SLOTS], *spare;
static uint32_t hosts, destinations;
static int64_t cut_off, now; /* hosts; ms */
static int64_t idle = IDLE;
static int64_t commands[MOST / 1000 + 130], labels[MOST / 1000 + 130]; /* by second */
static int64_t lent[MOST / 1000 + 130];                                /* mt, of all destinations */
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

/* Over a network that loses and delays: ms, or -1. */
static int32_t journey(void)
{
	return random_upto(&dice, 99) == 0 ? -1 : (int32_t)(1 + random_upto(&dice, 49));
}

static void travel(struct event *event, int32_t ms)
{
	if (is_cut_off(event->host) || ms < 0)
		drop(event);
	else
		at(event, now + ms);
}

/* A quarter of a second's work waits, and what is beyond that fails at once. */
static bool is_answered(uint32_t destination, int64_t moment)
{
	int64_t *queue = &queues[destination];

	if (moment < BACK || (relapse > 0 && moment >= BACK + relapse))
		return false;
	if (answers == 0)
		return true;
	*queue = greater(*queue - answers * (moment - queued_at[destination]), 0);
	queued_at[destination] = moment;
	if (*queue + 1000 > greater(answers * 250, 1000))
		return false;
	*queue += 1000;
	return true;
}

static void attempt(struct pair *pair, uint32_t destination, int64_t moment)
{
	const size_t bin = (size_t)destination * (size_t)(END / BIN) + (size_t)(moment / BIN);

	came[bin]++;
	if (!is_answered(destination, moment)) {
		pair->bad++;
		return;
	}
	answered[bin]++;
	pair->success_at = moment;
	pair->won++;
	waiting--;
	if (pair->heard_at == 0)
		pair->heard_at = moment;
}

/* All of it, at once. */
static void spend(struct pair *pair, uint32_t destination)
{
	const struct holder *holder = &pair->asker.holder;

	if (now < ACTIVE || pair->success_at > 0 || ns(now) >= holder->until)
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

	if (ns(now) < pair->asker.holder.until || now < ACTIVE || pair->success_at > 0) {
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

/* *has_asked: the first of a host's requests is counted as a command. */
static bool look(uint32_t host, uint32_t destination, const int32_t journeys[2], bool *has_asked)
{
	struct pair *pair = &pairs[(size_t)host * destinations + destination];
	const bool waits = now >= ACTIVE && pair->success_at == 0;
	struct event *event;

	asker_note(&pair->asker,
	           &(struct asker_seen) { waits ? 100 : 0, waits, pair->spent, pair->probed,
	                                  pair->success_at > 0, pair->bad, pair->won, pair->bad,
	                                  pair->success_at > 0 ? ns(pair->success_at) : 0 },
	           ns(now));
	pair->spent = pair->probed = pair->bad = pair->won = 0;
	if (pair->number > 0 && ns(now) - pair->asker.holder.asked_at >= 2 * SYNC * NS_PER_MS) {
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
		event->return_ms = journeys[1];
		if (journeys[0] >= 0 && !is_cut_off(host))
			commands[(now + journeys[0]) / 1000] += !*has_asked;
		*has_asked = true;
		travel(event, journeys[0]);
	}
	return pair->asker.is_active;
}

static void tick(struct event *event)
{
	const int32_t journeys[2] = { journey(), journey() };
	bool is_active = false, has_asked = false;

	for (uint32_t i = 0; i < destinations; i++)
		is_active |= look(event->host, i, journeys, &has_asked);
	at(event, now + asker_pause(SYNC * NS_PER_MS, is_active, &dice) / NS_PER_MS);
}

static void request(struct event *event)
{
	labels[now / 1000]++;
	ledger_sync(&ledgers[event->destination], &pair_of(event)->known, &event->ask,
	            INT64_C(1800000000000000) + now * 1000, true, &event->answer);
	lent[now / 1000] += event->answer.grant[PURSE_TOKENS];
	event->kind = ANSWER;
	travel(event, event->return_ms);
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

/* The most in any second from a moment on to another. */
static int64_t most_of(uint32_t destination, int64_t from, int64_t to)
{
	const uint32_t *bins = &came[(size_t)destination * (size_t)(END / BIN)];
	int64_t sum = 0, most = 0;

	for (int64_t i = from / BIN; i < to / BIN; i++) {
		sum += bins[i];
		if (i >= from / BIN + 1000 / BIN)
			sum -= bins[i - 1000 / BIN];
		most = greater(most, sum);
	}
	return most;
}

/* The most by which any second is beyond the bound and what answers may have earned: rule 7. */
static int64_t beyond(uint32_t destination, int64_t bound)
{
	const size_t first = (size_t)destination * (size_t)(END / BIN);
	const int64_t long_ago = rule.lifetime * 3 / 2 + 1000;
	int64_t sum = 0, earned = 0, most = -bound;

	for (int64_t i = 0; i < END / BIN; i++) {
		sum += came[first + (size_t)i];
		earned += answered[first + (size_t)i];
		if (i >= 1000 / BIN)
			sum -= came[first + (size_t)(i - 1000 / BIN)];
		if (i >= long_ago / BIN)
			earned -= answered[first + (size_t)(i - long_ago / BIN)];
		most = greater(most, sum - (earned * 5 + 3) / 4 - bound);
	}
	return most;
}

static int64_t total(const uint32_t *bins, int64_t from)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < destinations; i++)
		for (int64_t j = from / BIN; j < END / BIN; j++)
			sum += bins[(size_t)i * (size_t)(END / BIN) + (size_t)j];
	return sum;
}

/* Seconds until in one of them nine tenths of what the destinations can answer were answered, or
 * all; -1: never. */
static int64_t at_full_rate(void)
{
	int64_t left = (int64_t)hosts * destinations, sum;

	for (int64_t second = 0; second < RETURN / 1000; second++) {
		sum = 0;
		for (uint32_t i = 0; i < destinations; i++)
			for (int64_t j = 0; j < 1000 / BIN; j++)
				sum += answered[(size_t)i * (size_t)(END / BIN) +
				                (size_t)(BACK / BIN + second * (1000 / BIN) + j)];
		left -= sum;
		if (left == 0 || (answers > 0 && sum * 10 >= answers * destinations * 9))
			return second + 1;
	}
	return -1;
}

/* When so many percent of the hosts knew of a success, ms after the first could be; -1: never. */
static int64_t heard_by(int percent)
{
	static int heard[NEWS];
	const size_t count = (size_t)hosts * destinations;
	int64_t sum = 0;

	memset(heard, 0, sizeof(heard));
	for (size_t i = 0; i < count; i++)
		if (pairs[i].heard_at > 0)
			heard[within(pairs[i].heard_at - BACK, 0, NEWS - 1)]++;
	for (int64_t i = 0; i < NEWS; i++)
		if ((sum += heard[i]) * 100 >= (int64_t)count * percent)
			return i;
	return -1;
}

/* When so many percent of the hosts had been answered, ms after the first could be; -1: never. */
static int64_t served_by(int percent)
{
	const size_t count = (size_t)hosts * destinations;
	int64_t sum = 0;

	for (int64_t i = BACK / BIN; i < END / BIN; i++) {
		for (uint32_t j = 0; j < destinations; j++)
			sum += answered[(size_t)j * (size_t)(END / BIN) + (size_t)i];
		if (sum * 100 >= (int64_t)count * percent)
			return (i + 1) * BIN - BACK;
	}
	return -1;
}

/* mt a second of all destinations, from a moment on for so many seconds. */
static int64_t lent_in(int64_t ms, int seconds)
{
	int64_t sum = 0;

	for (int i = 0; i < seconds; i++)
		sum += lent[ms / 1000 + i];
	return sum / seconds;
}

/* Seconds after a moment until of the leased floor nine tenths are lent in five seconds; -1: not
 * while hosts are active. */
static int64_t full_after(int64_t ms)
{
	const int64_t full = fleet_leased_floor(&rule) * destinations;

	for (int64_t i = 0; ms + (i + 5) * 1000 <= BACK; i++)
		if (lent_in(ms + i * 1000, 5) >= full * 9 / 10)
			return i;
	return -1;
}

static void play(void)
{
	for (now = 0; now < END && (waiting > 0 || now < BACK + NEWS); now++) {
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

/* Jain's index of what hosts got, as a part of the best that whole tokens allow. */
static double fairness(int64_t sum, double squares, size_t count)
{
	const int64_t tokens = sum / FLEET_TOKEN, each = tokens / (int64_t)count;
	const int64_t more = tokens % (int64_t)count;
	const double best = (double)(more * (each + 1) * (each + 1)) +
	                    (double)(((int64_t)count - more) * each * each);

	return squares > 0 ? best * FLEET_TOKEN * FLEET_TOKEN / squares : 0;
}

static double per_destination(int64_t ms, int seconds)
{
	return (double)lent_in(ms, seconds) / destinations / FLEET_TOKEN;
}

static int report(void)
{
	const int64_t bound = fleet_bound(&rule, 1000) / FLEET_TOKEN;
	const size_t count = (size_t)hosts * destinations;
	int64_t most = 0, back = 0, again = 0, over = INT64_MIN, quiet = 0, active = 0,
		quiet_labels = 0, active_labels = 0, sum = 0, largest = 0;
	const int64_t part = answers > 0 && answers * FLEET_TOKEN < rule.floor * 4 ? 6 : 8;
	double squares = 0;
	bool is_good;

	for (uint32_t i = 0; i < destinations; i++) {
		most = greater(most, most_of(i, 0, BACK));
		back = greater(back, most_of(i, BACK, END));
		over = greater(over, beyond(i, bound));
		if (relapse > 0)
			again = greater(again, most_of(i, BACK + relapse + 5000, END));
	}
	for (int64_t i = LEARNT / 1000; i < ACTIVE / 1000; i++) {
		quiet += commands[i];
		quiet_labels += labels[i];
	}
	for (int64_t i = ACTIVE / 1000; i < CUT / 1000; i++) {
		active += commands[i];
		active_labels += labels[i];
	}
	for (size_t i = 0; i < count; i++) {
		sum += pairs[i].got;
		largest = greater(largest, pairs[i].got);
		squares += (double)pairs[i].got * (double)pairs[i].got;
	}
	printf("%u hosts, %u destinations, %" PRId64 " hosts cut off for %" PRId64 " s\n", hosts,
	       destinations, cut_off, (HEALED - CUT) / 1000);
	printf("  at one destination in a second: %" PRId64 " at most, bound %" PRId64 "\n", most,
	       bound);
	printf("  tokens leased a second: %.1f for each; to a host %.2f in all, %.0f at most; "
	       "fairness %.3f of the best of whole tokens\n",
	       (double)sum / destinations / (CUT - ACTIVE),
	       (double)sum / (double)count / FLEET_TOKEN, (double)largest / FLEET_TOKEN,
	       fairness(sum, squares, count));
	printf("  commands a second: idle %" PRId64 " for %" PRId64 " labels, active %" PRId64
	       " for %" PRId64 "\n",
	       quiet / ((ACTIVE - LEARNT) / 1000), quiet_labels / ((ACTIVE - LEARNT) / 1000),
	       active / ((CUT - ACTIVE) / 1000), active_labels / ((CUT - ACTIVE) / 1000));
	printf(
	    "  lent a second to each destination, of a floor of %.1f: at first %.1f, cut off %.1f, "
	    "whole again %.1f; of nine tenths after %" PRId64 " s of activity, %" PRId64
	    " s of the cut, %" PRId64 " s of the whole\n",
	    (double)fleet_leased_floor(&rule) / FLEET_TOKEN, per_destination(ACTIVE, 5),
	    per_destination(CUT, 20), per_destination(HEALED, 20), full_after(ACTIVE),
	    full_after(CUT), full_after(HEALED));
	printf(
	    "  a success is heard of by half after %.2f s, by 90 %% after %.2f s, by 99 %% after "
	    "%.2f s\n",
	    (double)heard_by(50) / 1000, (double)heard_by(90) / 1000, (double)heard_by(99) / 1000);
	if (relapse > 0)
		printf("  back, and silent again after %" PRId64 " s: %" PRId64
		       " at most in a second, from 5 s later on %" PRId64 ", bound %" PRId64 "\n",
		       relapse / 1000, back, again, bound);
	else
		printf(
		    "  back: half are answered after %.2f s, 90 %% after %.2f s, all after %.2f s; "
		    "full rate in second %" PRId64 "; %" PRId64
		    " at most in a second, %.1f %% fail\n",
		    (double)served_by(50) / 1000, (double)served_by(90) / 1000,
		    (double)served_by(100) / 1000, at_full_rate(), back,
		    100 - 100 * (double)total(answered, BACK) / (double)total(came, BACK));
	is_good =
	    most <= bound && over <= 0 && again <= bound &&
	    (relapse > 0 || (at_full_rate() > 0 && at_full_rate() <= 30 &&
	                     total(answered, BACK) * part >= total(came, BACK) * (part - 1))) &&
	    full_after(HEALED) >= 0 && full_after(HEALED) <= 10 && heard_by(90) >= 0 &&
	    heard_by(90) <= SYNC + 2000 &&
	    sum / destinations > rule.floor * (CUT - ACTIVE) / 1000 / 2;
	printf("%d passed, %d failed, 0 skipped\n", is_good, !is_good);
	return !is_good;
}

int main(int argc, char **argv)
{
	if (argc < 4 || argc > 7)
		return 2;
	if (argc > 6)
		relapse = within(strtol(argv[6], NULL, 10), 1, 30) * 1000;
	if (argc > 5)
		answers = within(strtol(argv[5], NULL, 10), 0, 1000000);
	if (argc > 4)
		idle = within(strtol(argv[4], NULL, 10) * 1000, LEARNT + 1000, MOST);
	hosts = (uint32_t)strtoul(argv[1], NULL, 10);
	destinations = (uint32_t)strtoul(argv[2], NULL, 10);
	cut_off = (int64_t)hosts * strtol(argv[3], NULL, 10) / 100;
	rule.hosts = hosts;
	pairs = calloc((size_t)hosts * destinations, sizeof(*pairs));
	ledgers = calloc(destinations, sizeof(*ledgers));
	came = calloc((size_t)destinations * (size_t)(END / BIN), sizeof(*came));
	answered = calloc((size_t)destinations * (size_t)(END / BIN), sizeof(*answered));
	queues = calloc(destinations, sizeof(*queues));
	queued_at = calloc(destinations, sizeof(*queued_at));
	waiting = (size_t)hosts * destinations;
	if (!pairs || !ledgers || !came || !answered || !queues || !queued_at)
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
