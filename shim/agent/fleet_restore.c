/* SPDX-License-Identifier: MIT */
/* A rule that the server told is compared with what the host knows, and a change recorded; where
 * the server has lost one, retrybudget_1_restore follows the answer to a sync. */
#include "agent/fleet_restore.h"

#include "agent/fleet_label.h"

#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <string.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static void tell_lost(const struct fleet_label *label, int64_t before)
{
	const int64_t lost = rules_lost(&label->rules);

	if (lost == before)
		return;
	fprintf(stderr, "retrybudgetd: event=fleet-rule-lost label=%s newer=", label->label);
	if (lost > 0)
		fprintf(stderr, "%" PRId64, lost);
	else
		fputs("none", stderr);
	fprintf(stderr, " generation=%" PRId64 "\n", label->rules.told.generation);
}

/* Tells, once for each change, that this host's programs take from the reserve what the bound does
 * not count. */
static void tell_differs(struct fleet_label *label, const struct fleet_rule *rule)
{
	const struct config *config = &label->fleet->config;
	char before[FLEET_DIFFERS];

	memcpy(before, label->differs, sizeof(before));
	*label->differs = '\0';
	for (int i = 0; i < config->policy_count; i++)
		if (config->policies[i].leased && strcmp(config->labels[i], label->label) == 0)
			(void)fleet_differs(rule, &config->policies[i], label->differs);
	if (strcmp(before, label->differs) != 0)
		fprintf(stderr,
		        "retrybudgetd: event=fleet-differs label=%s keys=%s generation=%" PRId64
		        "\n",
		        label->label, *label->differs ? label->differs : "none", rule->generation);
}

void restore_hear(struct fleet_label *label, const struct fleet_rule *rule)
{
	const int64_t before = rules_lost(&label->rules);

	rules_tell(&label->rules, rule);
	tell_lost(label, before);
	tell_differs(label, rule);
}

static void on_restored(void *arg, const struct redisReply *reply)
{
	struct fleet_label *label = arg;

	if (!reply)
		return; /* the connection is lost, and is made again by its own backoff */
	if (reply->type == REDIS_REPLY_ERROR) {
		link_note(label->link, link_state_of(reply->str), reply->str);
		label->restore_at =
		    fleet_now() + link_backoff(label->link, label->restore_streak++);
		return;
	}
	label->restore_streak = label->restore_at = 0;
	label->rules.is_answered = true;
	if (rules_lost(&label->rules) > 0 && reply->type == REDIS_REPLY_INTEGER &&
	    reply->integer > label->rules.told.generation)
		fprintf(stderr,
		        "retrybudgetd: event=fleet-rule-restored label=%s newer=%" PRId64
		        " generation=%lld\n",
		        label->label, label->rules.newer.generation, reply->integer);
}

static void restore(struct fleet_label *label, int64_t now)
{
	const struct fleet_rule *rule = rules_newest(&label->rules);
	struct wire_call call;

	if (rule->generation == 0 || now < label->restore_at ||
	    !wire_begin(&call, "retrybudget_1_restore", label->fleet->config.fleet.prefix, NULL,
	                label->label))
		return;
	wire_rule(&call, rule);
	(void)link_call(label->link, on_restored, label, call.count, call.argv, call.lengths);
}

void restore_lost(struct fleet_label *label, int64_t now)
{
	restore(label, now);
}

void restore_stricter(struct fleet_label *label, int64_t now)
{
	if (rules_are_owed(&label->rules))
		restore(label, now);
}
