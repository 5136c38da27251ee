/* SPDX-License-Identifier: MIT */
/*
 * Plays the events of traces that spin prints of lease.pml through shim/tool/ledger.c and
 * shim/tool/holder.c, and looks after each one: what is free, held and on its way is never more
 * than the capacity and what answers have earned in a lifetime and a half. Prints what was granted
 * in all. A tick is half of a lifetime, in which
 * somebody else asks for nothing, so that the ledger's time goes on. Exit status 1: too much went.
 */
#include "tool/holder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOSTS    2
#define CAPACITY 2000
#define LIFE     8000 /* ms */
#define MESSAGES 64
#define EARNED   1250 /* mt, by an answer */
#define WINS     16   /* answers of a trace */

static const struct fleet_rule rule = { 1, CAPACITY, 1000, 1000, HOSTS + 1, 1000000, LIFE };

struct message {
	int host;
	int64_t life, number;
	bool was_served;
	struct ledger_ask ask;
};

struct server {
	struct ledger ledger;
	struct ledger_host known[HOSTS + 1];
};

static struct server server, before;
static bool forgets;
static struct holder holders[HOSTS + 1];
static int64_t lives[HOSTS + 1], ms, granted;
static int64_t won[HOSTS],
    heard_at[WINS]; /* answers: not told yet; and when the ledger heard, ms */
static int wins;
static struct message messages[MESSAGES], answered;
static int count;
static bool is_answered;
static bool is_sound = true;
static struct ledger_answer answer;

static int64_t boot(void)
{
	return 1000 * NS_PER_S + ms * NS_PER_MS;
}

static void sync_with(int host, const struct ledger_ask *ask, struct ledger_answer *out)
{
	ledger_sync(&server.ledger, &server.known[host], ask,
	            (INT64_C(1800000000) * 1000 + ms) * 1000, !forgets, out);
	forgets = false;
}

static void watch(void)
{
	const int64_t nothing[PURSES] = { 0 };
	struct ledger_ask ask;
	struct ledger_answer out;

	holder_ask(&holders[HOSTS], nothing, boot(), &ask);
	sync_with(HOSTS, &ask, &out);
	holder_answer(&holders[HOSTS], &out, boot());
}

static bool is_awaited(void)
{
	const struct holder *holder = &holders[answered.host];

	return is_answered && holder->life == answered.life && holder->number == answered.number &&
	       holder->asked_at != 0 && boot() - holder->asked_at < LIFE * NS_PER_MS;
}

static bool is_sound_of(int purse, int64_t capacity, int64_t scale)
{
	/* Of a ledger that is another's nothing is granted before it has learnt. */
	int64_t sum = forgets ? 0 : server.ledger.purse[purse].free / scale;

	if (purse == PURSE_TOKENS) {
		if (!forgets)
			sum += greater(server.ledger.earned + server.ledger.earned_before, 0);
		for (int i = 0; i < wins; i++)
			capacity += ms - heard_at[i] <= LIFE * 3 / 2 ? EARNED : 0;
	}

	for (int i = 0; i < HOSTS; i++) {
		holder_expire(&holders[i], boot());
		sum += holders[i].held[purse];
	}
	return sum + (is_awaited() ? answer.grant[purse] : 0) <= capacity;
}

static void check(void)
{
	is_sound = is_sound && is_sound_of(PURSE_TOKENS, CAPACITY, 1000) &&
	           is_sound_of(PURSE_PROBES, 1, rule.probe);
}

static void pass(int sixteenths)
{
	for (int i = 0; i < sixteenths; i++) {
		ms += LIFE / 16;
		watch();
		check();
	}
}

/* Looked at in each part: who forgets a lease too early does so between two ticks. */
static void tick(void)
{
	pass(8);
}

static void start(void)
{
	memset(&server, 0, sizeof(server));
	memset(holders, 0, sizeof(holders));
	count = wins = 0;
	memset(won, 0, sizeof(won));
	is_answered = forgets = false;
	ledger_set(&server.ledger, &rule);
	for (int i = 0; i <= HOSTS; i++)
		holders[i].life = lives[i] = i + 1;
	for (int i = 0; i < 8; i++)
		tick();
	/* Late in a window: what is said now is the first to fall out of it. */
	pass(6);
	before = server;
}

static void ask(int host, bool gives)
{
	const int64_t wants[PURSES] = { gives ? 0 : CAPACITY, 1 };
	struct message *message = &messages[count++ % MESSAGES];

	holder_ask(&holders[host], wants, boot(), &message->ask);
	message->ask.won = won[host];
	won[host] = 0;
	message->was_served = false;
	message->host = host;
	message->life = lives[host];
	message->number = holders[host].number;
}

static struct message *find(int host, int64_t life, int64_t number)
{
	for (int i = 0; i < MESSAGES && i < count; i++)
		if (messages[i].host == host && messages[i].life == life &&
		    messages[i].number == number)
			return &messages[i];
	return NULL;
}

static void serve(struct message *message)
{
	struct ledger_answer out;

	sync_with(message->host, &message->ask, &out);
	for (int64_t i = 0; i < message->ask.won && !message->was_served && wins < WINS; i++)
		heard_at[wins++] = ms;
	message->was_served = true;
	if (is_answered || out.status != LEDGER_GOOD)
		return;
	is_answered = true;
	answered = *message;
	answer = out;
	granted += out.grant[PURSE_TOKENS];
}

static void flush(void)
{
	memset(&server, 0, sizeof(server));
	ledger_set(&server.ledger, &rule);
	forgets = true;
}

/* After that of its host, whatever the host's own number is. */
static int64_t life_of(int host, int told)
{
	return host + 1 + 10 * told;
}

static bool obey(const char *line)
{
	int h = 0, l = 0, n = 0;

	if (strncmp(line, "tick", 4) == 0) {
		tick();
	} else if (sscanf(line, "ask %d %d", &h, &n) == 2 && h < HOSTS) {
		ask(h, n > 0);
	} else if (sscanf(line, "serve %d %d %d", &h, &l, &n) == 3 && h < HOSTS) {
		struct message *message = find(h, life_of(h, l), n);

		if (message)
			serve(message);
	} else if (strncmp(line, "hear", 4) == 0) {
		if (is_awaited())
			holder_answer(&holders[answered.host], &answer, boot());
		is_answered = false;
	} else if (strncmp(line, "unheard", 7) == 0) {
		is_answered = false;
	} else if (sscanf(line, "spend %d", &h) == 1 && h < HOSTS) {
		holder_spend(&holders[h], PURSE_TOKENS, FLEET_TOKEN);
	} else if (sscanf(line, "win %d", &h) == 1 && h < HOSTS) {
		won[h]++;
	} else if (sscanf(line, "die %d", &h) == 1 && h < HOSTS) {
		won[h] = 0;
		lives[h] += 10;
		holders[h] = (struct holder) { .life = lives[h] };
	} else if (strncmp(line, "flush", 5) == 0) {
		flush();
	} else if (strncmp(line, "remember", 8) == 0) {
		before = server;
	} else if (strncmp(line, "back", 4) == 0) {
		server = before;
		forgets = true;
	} else if (strncmp(line, "start", 5) == 0) {
		start();
	} else if (strncmp(line, "lost", 4) != 0 && strncmp(line, "twice", 5) != 0) {
		return false;
	}
	return true;
}

int main(void)
{
	char line[256];
	int number = 0;

	start();
	for (; fgets(line, sizeof(line), stdin); number++) {
		if (!obey(line)) {
			fprintf(stderr, "replay: not understood: %s", line);
			return 2;
		}
		check();
		if (!is_sound) {
			fprintf(stderr, "replay: too much after event %d: %s", number, line);
			return 1;
		}
	}
	printf("%" PRId64 "\n", granted);
	return 0;
}
