/* SPDX-License-Identifier: MIT */
/* Reading and writing of a simulated fleet's cells: as agent/host_demand.c and agent/lending.c do.
 */
#include "tool/sim_lend.h"

#include <string.h>

struct sim_here sim_here_of(const struct sim_world *world, uint32_t place, uint32_t host,
                            uint32_t hosts)
{
	const struct sim_caller *caller = &world->callers[place];

	if (host >= caller->unit_count)
		return (struct sim_here) { 0 };
	return (struct sim_here) {
		.units = &caller->units[host],
		.lent = &caller->lent[host],
		.count = (caller->unit_count - host + hosts - 1) / hosts,
		.step = hosts,
	};
}

static struct sim_unit *unit_at(const struct sim_here *here, uint32_t i)
{
	return &here->units[(size_t)i * here->step];
}

static struct sim_lent *lent_at(const struct sim_here *here, uint32_t i)
{
	return &here->lent[(size_t)i * here->step];
}

static bool is_recent(int64_t at, int64_t within, int64_t now)
{
	return at > 0 && now - at < within;
}

static struct lease_view view_of(const struct sim_unit *unit, int64_t now)
{
	struct lease_view view;

	lease_read(&unit->budget.lease, lease_label(SIM_FLEET_LABEL), now, &view);
	return view;
}

/* As much more as there may be, of what an agent is told by a program. */
static void note_growth(const struct sim_unit *unit, const struct sim_lent *lent,
                        struct asker_seen *seen)
{
	const struct budget *budget = &unit->budget;

	if (unit->good > lent->good)
		seen->success_at = greater(seen->success_at, LOAD(budget->allowance.answered_at));
	seen->spent += lesser(LOAD(budget->lease.spent) - lent->spent, lent->held);
	seen->probed += lesser(LOAD(budget->lease.probed) - lent->probed, lent->held_probes);
	seen->good += unit->good - lent->good;
	seen->bad += unit->bad - lent->bad;
	seen->won += unit->won - lent->won;
	seen->lost += unit->lost - lent->lost;
}

static void look_at(const struct sim_unit *unit, struct sim_lent *lent, int64_t time, int64_t now)
{
	const struct budget *budget = &unit->budget;
	struct lease_view view = view_of(unit, now);
	bool is_waiting =
	    LOAD(budget->streak) > 0 && is_recent(LOAD(budget->wanted_at), DEMAND_WAITING, now);
	int64_t wants = lesser(unit->retries - lent->retries, demand_most(DEMAND_CELL_MOST, time));

	*lent = (struct sim_lent) {
		.retries = unit->retries,
		.good = unit->good,
		.bad = unit->bad,
		.won = unit->won,
		.lost = unit->lost,
		.spent = LOAD(budget->lease.spent),
		.probed = LOAD(budget->lease.probed),
		.held = view.left,
		.held_probes = view.probes,
		.wants = greater(wants, is_waiting),
		.is_waiting = is_waiting,
		.in_use = is_waiting || is_recent(unit->used_at, DEMAND_IN_USE, now),
	};
}

void sim_lend_look(const struct sim_here *here, int64_t time, int64_t now, struct asker_seen *seen)
{
	for (uint32_t i = 0; i < here->count; i++) {
		note_growth(unit_at(here, i), lent_at(here, i), seen);
		look_at(unit_at(here, i), lent_at(here, i), time, now);
		seen->wanted += lent_at(here, i)->wants;
		seen->waiting += lent_at(here, i)->is_waiting;
	}
	seen->wanted = lesser(seen->wanted, demand_most(DEMAND_USER_MOST, time));
}

static void write_lease(struct sim_unit *unit, struct lease_grant grant, int64_t tokens,
                        int64_t probes)
{
	struct lease words;

	grant.tokens = tokens;
	grant.probes = probes;
	lease_compose(&words, &unit->budget.lease, SIM_FLEET_LABEL, &grant);
	memcpy(&unit->budget.lease, &words, LEASE_BYTES);
}

/* To no more than its part. What it has spent since the look is gone from what is divided. */
static void shrink(struct sim_unit *unit, const struct sim_lent *lent, int64_t part,
                   struct lease_grant *left, int64_t now)
{
	const struct lease *lease = &unit->budget.lease;
	int64_t has = lesser(view_of(unit, now).left, part);

	left->tokens -= has + within(LOAD(lease->spent) - lent->spent, 0, lent->held);
	left->probes -= within(LOAD(lease->probed) - lent->probed, 0, lent->held_probes);
	write_lease(unit, *left, has, 0);
}

static void grow(struct sim_unit *unit, struct sim_lent *lent, int64_t part,
                 struct lease_grant *left, int64_t now)
{
	int64_t has = view_of(unit, now).left, probe = lent->is_waiting && left->probes > 0;
	int64_t more = within(part - has, 0, greater(left->tokens, 0));

	left->tokens -= more;
	left->probes -= probe;
	lent->held += more;
	lent->held_probes += probe;
	write_lease(unit, *left, has + more, probe);
}

void sim_lend(const struct sim_here *here, const struct lease_grant *grant, uint32_t turn,
              struct claim *claims, int64_t now)
{
	struct lease_grant left = *grant;

	left.members = 0;
	for (uint32_t i = 0; i < here->count; i++) {
		const struct sim_lent *lent = lent_at(here, i);

		claims[i] = (struct claim) { .wants = lent->wants, .in_use = lent->in_use };
		left.members += lent->in_use;
	}
	fair_lend(claims, here->count, left.tokens / MT_PER_TOKEN, turn);
	for (uint32_t i = 0; i < here->count; i++)
		shrink(unit_at(here, i), lent_at(here, i), claims[i].gets * MT_PER_TOKEN, &left,
		       now);
	for (uint32_t n = 0; n < here->count; n++) {
		uint32_t i = (turn + n) % here->count;

		grow(unit_at(here, i), lent_at(here, i), claims[i].gets * MT_PER_TOKEN, &left, now);
	}
}
