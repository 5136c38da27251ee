/* SPDX-License-Identifier: MIT */
/* One tick: look what the programs want, ask the ledgers whose turn it is (tool/asker.h), lend
 * what is held. */
#include "agent/fleet.h"

#include "agent/fleet_label.h"
#include "agent/fleet_sync.h"

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

#define ADOPTED (2 * NS_PER_S) /* what cells of an agent before us hold is void then */

static int64_t lifetime_of(const struct fleet_label *label)
{
	const struct fleet_rule *rule = &label->rules.told;

	return rule->generation > 0 ? rule->lifetime * NS_PER_MS : 0;
}

/* When nothing comes of a request, the connection is no good: a reply that came later would be
 * taken for that of another. */
static bool gave_up(struct fleet_label *label, int64_t now)
{
	if (label->asker.holder.asked_at == 0)
		return false;
	if (now - label->asker.holder.asked_at <
	    greater(2 * label->fleet->config.fleet.sync, NS_PER_S))
		return true;
	link_fail(label->link, LINK_SLOW, "no answer");
	return true;
}

/* As one that lends by the rule that holds. */
static bool is_good(const struct fleet_label *label)
{
	return label->word == FLEET_GOOD && !rules_are_owed(&label->rules);
}

static void tend(struct fleet_label *label, int64_t now)
{
	struct demand_label *demand = demand_of(&label->fleet->demand, label->label);
	struct asker_seen seen;

	if (!demand)
		return;
	seen = (struct asker_seen) { demand->wanted, demand->waiting,   demand->spent,
		                     demand->probed, demand->successes, demand->failures,
		                     demand->won,    demand->lost,      demand->success_at };
	if (label->fleet->demand.turn == 1)
		holder_adopt(&label->asker.holder, demand->held, demand->held_probes,
		             now + ADOPTED);
	label->spent += demand->spent;
	label->probed += demand->probed;
	asker_note(&label->asker, &seen, now);
	if (label->word != FLEET_SELF && !gave_up(label, now) && label->link->is_ready &&
	    asker_is_due(&label->asker, is_good(label), lifetime_of(label), now))
		sync_add(label, demand->waiting, now);
	fleet_lend(label, now);
}

void fleet_tick(evutil_socket_t fd, short what, void *arg)
{
	struct fleet *fleet = arg;
	int64_t next, now = fleet_now();
	bool is_active = false;
	struct timeval time;

	(void)fd;
	(void)what;
	fleet->rounds++;
	if (demand_round(&fleet->demand, now))
		for (size_t i = 0; i < fleet->label_count; i++)
			tend(&fleet->labels[i], now);
	/* What goes back is off the cells now. */
	for (size_t i = 0; i < fleet->link_count; i++)
		sync_send(fleet, i);
	/* Active programs are looked at twice a sync, so that a success is soon told. */
	for (size_t i = 0; i < fleet->label_count; i++)
		is_active |= fleet->labels[i].asker.is_active;
	next = asker_pause(fleet->config.fleet.sync, is_active, &fleet->random);
	time = (struct timeval) { next / NS_PER_S, next % NS_PER_S / 1000 };
	(void)event_add(fleet->timer, &time);
}
