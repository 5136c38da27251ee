/* SPDX-License-Identifier: MIT */
/* One request to a server for all labels that are due: a fleet that retries costs its server a
 * command for each host, not one for each of the labels of each. */
#include "agent/fleet_sync.h"

#include "agent/fleet_label.h"
#include "agent/fleet_restore.h"

#include <hiredis/hiredis.h>
#include <stdlib.h>
#include <string.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

/* A request that is composed, and then on its way. */
struct fleet_batch {
	struct fleet *fleet;
	struct fleet_link *link;
	int64_t asked_at; /* ns */
	struct fleet_label *labels[WIRE_BATCH];
	struct wire_batch wire;
};

static void take(struct fleet_label *label, struct ledger_answer *answer, int64_t now)
{
	rules_hold(&label->rules, answer);
	if (!asker_answer(&label->asker, answer, label->fleet->config.fleet.lease, now))
		return;
	label->granted += within(answer->grant[PURSE_TOKENS], 0, FLEET_CAPACITY_MOST);
	label->answered_at = now;
	fleet_set_word(label, answer->learning ? FLEET_LEARNING : FLEET_GOOD);
}

static void lose(struct fleet_label *label)
{
	label->lost++;
	holder_lose(&label->asker.holder);
}

/* False: it is no answer. */
static bool hear(struct fleet_label *label, const struct redisReply *reply, int64_t now)
{
	struct ledger_answer answer;
	struct fleet_rule rule;
	bool has_rule = false;

	if (reply->type != REDIS_REPLY_STRING ||
	    !wire_answer(reply->str, reply->len, &answer, &rule, &has_rule)) {
		lose(label);
		return false;
	}
	if (has_rule)
		restore_hear(label, &rule);
	take(label, &answer, now);
	if (answer.status == LEDGER_NO_RULE) {
		fleet_set_word(label, FLEET_NO_RULE);
		restore_lost(label, now);
	} else if (answer.status == LEDGER_FORGOTTEN) {
		fleet_set_word(label, FLEET_FORGOTTEN);
		restore_hear(label, &(struct fleet_rule) { 0 });
	} else {
		restore_stricter(label, now);
	}
	fleet_lend(label, now);
	return true;
}

static void hear_error(struct fleet_link *link, const char *text)
{
	const enum link_state state = link_state_of(text);

	/* Behind a name there may be another server by now. */
	if (state == LINK_READONLY || state == LINK_PASSWORD || state == LINK_LOADING)
		link_fail(link, state, text);
	else
		link_note(link, state, text);
}

static void hear_all(const struct fleet_batch *batch, const struct redisReply *reply)
{
	struct fleet_link *link = batch->link;
	const int64_t now = fleet_now();
	bool is_good = reply->type == REDIS_REPLY_ARRAY && reply->elements == batch->wire.labels;

	for (size_t i = 0; i < batch->wire.labels; i++)
		if (is_good)
			is_good = hear(batch->labels[i], reply->element[i], now);
		else
			lose(batch->labels[i]);
	if (!is_good) {
		link_note(link, LINK_STRANGE, "an answer that is none");
		return;
	}
	link->streak = 0;
	link_note(link,
	          now - batch->asked_at > batch->fleet->config.fleet.sync ? LINK_SLOW : LINK_UP,
	          "");
}

static void on_answers(void *arg, const struct redisReply *reply)
{
	struct fleet_batch *batch = arg;

	if (reply && reply->type != REDIS_REPLY_ERROR) {
		hear_all(batch, reply);
	} else {
		for (size_t i = 0; i < batch->wire.labels; i++)
			lose(batch->labels[i]);
		if (reply)
			hear_error(batch->link, reply->str);
	}
	free(batch);
}

static struct fleet_batch *new_batch(struct fleet *fleet, struct fleet_link *link)
{
	struct fleet_batch *batch =
	    malloc(sizeof(*batch)); /* all of it is written before it is read */

	if (!batch)
		return NULL;
	batch->fleet = fleet;
	batch->link = link;
	if (wire_batch(&batch->wire, fleet->config.fleet.prefix, fleet->host))
		return batch;
	free(batch);
	return NULL;
}

void sync_add(struct fleet_label *label, int64_t waiting, int64_t now)
{
	struct fleet *fleet = label->fleet;
	struct fleet_batch **batch = &fleet->batches[label->link - fleet->links];
	struct ledger_ask ask;

	if (!*batch)
		*batch = new_batch(fleet, label->link);
	asker_ask(&label->asker, waiting, now, &ask);
	label->requests++;
	if (!*batch || !wire_batch_add(&(*batch)->wire, fleet->config.fleet.prefix, label->label,
	                               &ask, label->rules.told.generation)) {
		lose(label);
		return;
	}
	(*batch)->labels[(*batch)->wire.labels - 1] = label;
	(*batch)->asked_at = now;
}

void sync_send(struct fleet *fleet, size_t link)
{
	struct fleet_batch *batch = fleet->batches[link];

	fleet->batches[link] = NULL;
	if (!batch)
		return;
	wire_batch_end(&batch->wire);
	if (link_call(batch->link, on_answers, batch, batch->wire.count, batch->wire.argv,
	              batch->wire.lengths))
		return;
	for (size_t i = 0; i < batch->wire.labels; i++)
		lose(batch->labels[i]);
	free(batch);
}
