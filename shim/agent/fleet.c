/* SPDX-License-Identifier: MIT */
/* One tick: look what the programs want, ask the ledgers whose turn it is (agent/asker.h), lend
 * what is held. */
#include "agent/fleet.h"

#include <hiredis/hiredis.h>
#include <string.h>
#include <time.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define ADOPTED (2 * NS_PER_S) /* what cells of an agent before us hold is void then */

static const char *const words[FLEET_WORDS] = { "unknown", "good",      "learning",
	                                        "no-rule", "forgotten", "self" };

const char *fleet_word(enum fleet_word word)
{
	return words[word];
}

int64_t fleet_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

void fleet_set_word(struct fleet_label *label, enum fleet_word word)
{
	if (label->word != word)
		fprintf(stderr,
		        "retrybudgetd: event=fleet-label label=%s state=%s was=%s epoch=%lld "
		        "generation=%lld\n",
		        label->label, words[word], words[label->word],
		        (long long)label->asker.holder.epoch,
		        (long long)label->asker.holder.generation);
	label->word = word;
}

static int64_t lifetime_of(const struct fleet_label *label)
{
	return label->rule.generation > 0 ? label->rule.lifetime * NS_PER_MS : 0;
}

static bool to_numbers(const struct redisReply *reply, int64_t *numbers, size_t most, size_t *count)
{
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements > most)
		return false;
	*count = reply->elements;
	for (size_t i = 0; i < *count; i++) {
		if (reply->element[i]->type != REDIS_REPLY_INTEGER)
			return false;
		numbers[i] = reply->element[i]->integer;
	}
	return true;
}

static void on_restored(void *arg, const struct redisReply *reply)
{
	struct fleet_label *label = arg;

	if (reply && reply->type == REDIS_REPLY_ERROR)
		link_note(label->link, link_state_of(reply->str), reply->str);
}

/* The server has lost the rule that all hosts know. */
static void restore_rule(struct fleet_label *label)
{
	struct wire_call call;

	if (label->rule.generation == 0 ||
	    !wire_begin(&call, "retrybudget_1_restore", label->fleet->config.fleet.prefix,
	                label->label, NULL))
		return;
	wire_rule(&call, &label->rule);
	(void)link_call(label->link, on_restored, label, call.count, call.argv, call.lengths);
}

/* Tells, once for each change, that this host's programs take from the reserve what the bound does
 * not count. */
static void set_rule(struct fleet_label *label, const struct fleet_rule *rule)
{
	const struct config *config = &label->fleet->config;
	char before[FLEET_DIFFERS];

	label->rule = *rule;
	memcpy(before, label->differs, sizeof(before));
	*label->differs = '\0';
	for (int i = 0; i < config->policy_count; i++)
		if (config->policies[i].leased && strcmp(config->labels[i], label->label) == 0)
			(void)fleet_differs(rule, &config->policies[i], label->differs);
	if (strcmp(before, label->differs) != 0)
		fprintf(stderr,
		        "retrybudgetd: event=fleet-differs label=%s keys=%s generation=%lld\n",
		        label->label, *label->differs ? label->differs : "none",
		        (long long)rule->generation);
}

static void take(struct fleet_label *label, const struct ledger_answer *answer, int64_t now)
{
	if (!asker_answer(&label->asker, answer, label->fleet->config.fleet.lease, now))
		return;
	label->granted += within(answer->grant[PURSE_TOKENS], 0, FLEET_CAPACITY_MOST);
	label->answered_at = now;
	fleet_set_word(label, answer->learning ? FLEET_LEARNING : FLEET_GOOD);
}

static void lend(struct fleet_label *label, int64_t now);

static void on_answer(void *arg, const struct redisReply *reply)
{
	struct fleet_label *label = arg;
	struct ledger_answer answer;
	struct fleet_rule rule;
	int64_t numbers[32], now = fleet_now(), took = now - label->asker.holder.asked;
	size_t count = 0;
	bool has_rule = false;

	if (!reply) {
		label->lost++;
		holder_lose(&label->asker.holder);
		return;
	}
	if (reply->type == REDIS_REPLY_ERROR) {
		enum link_state state = link_state_of(reply->str);

		holder_lose(&label->asker.holder);
		label->lost++;
		/* Behind a name there may be another server by now. */
		if (state == LINK_READONLY || state == LINK_PASSWORD || state == LINK_LOADING)
			link_fail(label->link, state, reply->str);
		else
			link_note(label->link, state, reply->str);
		return;
	}
	if (!to_numbers(reply, numbers, sizeof(numbers) / sizeof(*numbers), &count) ||
	    !wire_answer(numbers, count, &answer, &rule, &has_rule)) {
		holder_lose(&label->asker.holder);
		link_note(label->link, LINK_STRANGE, "an answer that is none");
		return;
	}
	label->link->streak = 0;
	link_note(label->link, took > label->fleet->config.fleet.sync ? LINK_SLOW : LINK_UP, "");
	if (has_rule)
		set_rule(label, &rule);
	take(label, &answer, now);
	if (answer.status == LEDGER_NO_RULE) {
		fleet_set_word(label, FLEET_NO_RULE);
		restore_rule(label);
	} else if (answer.status == LEDGER_FORGOTTEN) {
		fleet_set_word(label, FLEET_FORGOTTEN);
		set_rule(label, &(struct fleet_rule) { 0 });
	}
	lend(label, now);
}

static void ask(struct fleet_label *label, const struct demand_label *demand, int64_t now)
{
	struct fleet *fleet = label->fleet;
	struct ledger_ask ask;
	struct wire_call call;

	asker_ask(&label->asker, demand->waiting, now, &ask);
	label->requests++;
	if (!wire_sync(&call, fleet->config.fleet.prefix, label->label, fleet->host, &ask,
	               label->rule.generation) ||
	    !link_call(label->link, on_answer, label, call.count, call.argv, call.lengths))
		holder_lose(&label->asker.holder);
}

/* All cells of the label get their part of what is held now. A host that holds nothing, or does
 * not know its part, lives by the reserve. */
static void lend(struct fleet_label *label, int64_t now)
{
	struct holder *holder = &label->asker.holder;
	struct lease_grant grant;
	bool lives;

	holder_expire(holder, now);
	lives = now < holder->until &&
	        (label->word == FLEET_GOOD || holder->held[PURSE_TOKENS] >= FLEET_TOKEN ||
	         holder->held[PURSE_PROBES] > 0);
	grant = (struct lease_grant) { .generation = holder->generation,
		                       .until = lives ? holder->until : now,
		                       .tokens = holder->held[PURSE_TOKENS],
		                       .probes = holder->held[PURSE_PROBES],
		                       .news_at = label->asker.news_at,
		                       .failing = label->asker.failing,
		                       .waiting = label->asker.waiting };
	(void)demand_lend(&label->fleet->demand, label->label, &grant, now);
}

/* When nothing comes of a request, the connection is no good: a reply that came later would be
 * taken for that of another. */
static bool gave_up(struct fleet_label *label, int64_t now)
{
	if (label->asker.holder.asked == 0)
		return false;
	if (now - label->asker.holder.asked <
	    greater(2 * label->fleet->config.fleet.sync, NS_PER_S))
		return true;
	link_fail(label->link, LINK_SLOW, "no answer");
	return true;
}

static void tend(struct fleet_label *label, int64_t now)
{
	struct demand_label *demand = demand_of(&label->fleet->demand, label->label);
	struct asker_seen seen;

	if (!demand)
		return;
	seen = (struct asker_seen) { demand->wanted,    demand->waiting,   demand->spent,
		                     demand->probed,    demand->successes, demand->failures,
		                     demand->success_at };
	if (label->fleet->rounds == 1)
		holder_adopt(&label->asker.holder, demand->held, demand->held_probes,
		             now + ADOPTED);
	label->spent += demand->spent;
	label->probed += demand->probed;
	asker_note(&label->asker, &seen, now);
	if (label->word != FLEET_SELF && !gave_up(label, now) && label->link->is_ready &&
	    asker_is_due(&label->asker, label->word == FLEET_GOOD, lifetime_of(label), now))
		ask(label, demand, now);
	lend(label, now);
}

void fleet_tick(evutil_socket_t fd, short what, void *arg)
{
	struct fleet *fleet = arg;
	int64_t next, now = fleet_now();
	bool is_troubled = false;
	struct timeval time;

	(void)fd;
	(void)what;
	fleet->rounds++;
	if (demand_round(&fleet->demand, now))
		for (size_t i = 0; i < fleet->label_count; i++)
			tend(&fleet->labels[i], now);
	/* In trouble programs are looked at twice a sync, so that a success is soon told. */
	for (size_t i = 0; i < fleet->label_count; i++)
		is_troubled |= fleet->labels[i].asker.is_troubled;
	next = asker_pause(fleet->config.fleet.sync, is_troubled, &fleet->random);
	time = (struct timeval) { next / NS_PER_S, next % NS_PER_S / 1000 };
	(void)event_add(fleet->timer, &time);
}
