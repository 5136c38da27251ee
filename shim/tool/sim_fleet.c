/* SPDX-License-Identifier: MIT */
/* The order of things is that of agent/fleet.c, agent/host_demand.c and agent/lending.c. */
#include "tool/sim_fleet.h"

#include "sys/random.h"
#include "tool/sim_lend.h"

#include <stdlib.h>

#define LENT_LONGEST (600 * NS_PER_S) /* what a lease may hold at a host; the rule says less */

struct sim_agent {
	struct asker asker;
	struct ledger_host known; /* to the ledger */
	struct ledger_ask ask;
	struct ledger_answer answer;
	uint32_t caller, host, hosts, turn;
	int64_t looked_at;
	int64_t success_at; /* 0: never */
	bool is_good;       /* the ledger has answered last as one that lends */
};

struct sim_fleet {
	struct fleet_rule rule;
	struct ledger ledgers[SIM_SERVERS];
	bool has_forgotten[SIM_SERVERS];
	struct sim_agent *agents;
	uint32_t count;
	struct claim *claims; /* of the cells of one host */
};

static int64_t moment(int64_t now)
{
	return SIM_BEGINNING + now;
}

void sim_fleet_rule(const struct sim_scenario *scenario, const struct sim_policy *policy,
                    struct fleet_rule *rule)
{
	const struct sim_fleet_rule *fleet = &scenario->fleet;

	*rule = (struct fleet_rule) {
		.generation = 1,
		.capacity = fleet->capacity,
		.floor = fleet->floor,
		.probe = policy->policy.probe / NS_PER_MS,
		.hosts = policy->policy.fleet_n_max,
		.lifetime = fleet->lease / NS_PER_MS,
	};
	rule->leased =
	    fleet_leased_part(rule->floor, lesser(policy->policy.fleet_reserve, rule->floor));
}

bool sim_fleet_fits(const struct sim_scenario *scenario, const struct sim_policy *policy)
{
	return !policy->policy.leased || policy->policy.fleet_reserve <= scenario->fleet.floor;
}

static void lend(struct sim_world *world, struct sim_agent *agent, int64_t now)
{
	struct sim_here here = sim_here_of(world, agent->caller, agent->host, agent->hosts);
	const struct asker *asker = &agent->asker;
	const struct holder *holder = &asker->holder;
	struct lease_grant grant;
	bool lives;

	asker_expire(&agent->asker, now);
	lives =
	    now < holder->until && (agent->is_good || holder->held[PURSE_TOKENS] >= FLEET_TOKEN ||
	                            holder->held[PURSE_PROBES] > 0);
	grant = (struct lease_grant) { .generation = holder->generation,
		                       .until = lives ? holder_until(holder) : now,
		                       .tokens = holder->held[PURSE_TOKENS],
		                       .probes = holder->held[PURSE_PROBES],
		                       .news_at = asker->news_at,
		                       .failing = asker->failing,
		                       .waiting = asker->waiting };
	sim_lend(&here, &grant, agent->turn, world->fleet->claims, now);
}

/* --- what is said between an agent and its ledger --- */

/* Puts it on its way, unless it is lost there. */
static void put_on_way(struct sim_world *world, uint32_t place, enum sim_what what, int64_t now)
{
	const struct sim_fleet_rule *rule = &world->scenario->fleet;
	uint32_t number = (uint32_t)world->fleet->agents[place].ask.number;

	if (rule->lost > 0 && random_upto(&world->random, PPM_WHOLE - 1) < rule->lost)
		return;
	sim_put(world, now + rule->way, what, place, number);
}

static void look(struct sim_world *world, uint32_t place, int64_t now)
{
	const struct sim_fleet_rule *rule = &world->scenario->fleet;
	struct sim_agent *agent = &world->fleet->agents[place];
	struct asker *asker = &agent->asker;
	struct sim_here here = sim_here_of(world, agent->caller, agent->host, agent->hosts);
	struct asker_seen seen = { .success_at = agent->success_at };
	int64_t at = moment(now);

	sim_lend_look(&here, greater(at - agent->looked_at, NS_PER_S), at, &seen);
	agent->success_at = seen.success_at;
	agent->looked_at = at;
	agent->turn++;
	asker_note(asker, &seen, at);
	if (asker->holder.asked_at &&
	    at - asker->holder.asked_at >= greater(2 * rule->sync, NS_PER_S))
		holder_lose(&asker->holder);
	if (!asker->holder.asked_at &&
	    asker_is_due(asker, agent->is_good, world->fleet->rule.lifetime * NS_PER_MS, at)) {
		asker_ask(asker, seen.waiting, at, &agent->ask);
		put_on_way(world, place, SIM_ASKED, now);
	}
	lend(world, agent, at);
	sim_put(world, now + asker_pause(rule->sync, asker->is_active, &world->random), SIM_LOOK,
	        place, 0);
}

static void forget(struct sim_fleet *fleet, const struct sim_world *world, int server)
{
	struct fleet_rule rule = fleet->rule;

	fleet->has_forgotten[server] = true;
	fleet->ledgers[server] = (struct ledger) { .rule = rule };
	for (uint32_t i = 0; i < fleet->count; i++)
		if (world->callers[fleet->agents[i].caller].target == server)
			fleet->agents[i].known = (struct ledger_host) { 0 };
}

static void ask_ledger(struct sim_world *world, uint32_t place, int64_t now)
{
	const struct sim_fleet_rule *rule = &world->scenario->fleet;
	struct sim_fleet *fleet = world->fleet;
	struct sim_agent *agent = &fleet->agents[place];
	int server = world->callers[agent->caller].target;
	bool remembers = !rule->forgets || now < rule->back || fleet->has_forgotten[server];

	if (now >= rule->down && now < rule->back)
		return;
	if (!remembers)
		forget(fleet, world, server);
	ledger_sync(&fleet->ledgers[server], &agent->known, &agent->ask, moment(now) / 1000,
	            remembers, &agent->answer);
	put_on_way(world, place, SIM_TOLD, now);
}

static void be_told(struct sim_world *world, struct sim_agent *agent, int64_t now)
{
	if (!agent->asker.holder.asked_at)
		return;
	if (asker_answer(&agent->asker, &agent->answer, LENT_LONGEST, now))
		agent->is_good = !agent->answer.learning;
	lend(world, agent, now);
}

void sim_fleet_happens(struct sim_world *world, const struct sim_event *event)
{
	struct sim_agent *agent = &world->fleet->agents[event->who];

	if (event->what == SIM_LOOK)
		look(world, event->who, event->at);
	else if (event->serial != (uint32_t)agent->ask.number)
		return; /* given up */
	else if (event->what == SIM_ASKED)
		ask_ledger(world, event->who, event->at);
	else
		be_told(world, agent, moment(event->at));
}

/* --- its beginning --- */

/* A ledger that has been there for long: it knows its hosts, and has saved up all it may. */
static void grow_old(struct ledger *ledger, const struct fleet_rule *rule)
{
	struct ledger_host nobody = { 0 };
	struct ledger_ask ask = { .life = 1, .success_age = -1 };
	struct ledger_answer answer;
	int64_t eighth = rule->lifetime / 8;
	int64_t fills = rule->capacity * 1000 / fleet_leased_floor(rule);
	int64_t steps = lesser(12 + fills / eighth, 10000);

	(void)ledger_set(ledger, rule);
	for (int64_t i = steps; i > 0; i--) {
		ask.number++;
		ask.epoch = ledger->epoch;
		ledger_sync(ledger, &nobody, &ask, (SIM_BEGINNING / NS_PER_MS - i * eighth) * 1000,
		            true, &answer);
	}
}

static bool start_caller(struct sim_world *world, uint32_t place, uint32_t *most)
{
	struct sim_caller *caller = &world->callers[place];
	struct sim_fleet *fleet = world->fleet;
	bool shares = world->policy->scope != SCOPE_PROCESS;
	uint32_t units = caller->unit_count;
	uint32_t hosts = shares ? units : (uint32_t)caller->profile->hosts;
	struct sim_agent *agents =
	    reallocarray(fleet->agents, fleet->count + hosts, sizeof(*agents));

	caller->lent = calloc(units, sizeof(*caller->lent));
	if (agents)
		fleet->agents = agents;
	if (!agents || !caller->lent)
		return false;
	*most = (uint32_t)greater(*most, (units + hosts - 1) / hosts);
	for (uint32_t i = 0; i < hosts; i++) {
		struct sim_agent *agent = &agents[fleet->count];

		*agent = (struct sim_agent) {
			.caller = place,
			.host = i,
			.hosts = hosts,
			.looked_at = SIM_BEGINNING,
		};
		asker_begin(&agent->asker, fleet->count + INT64_C(2), world->scenario->fleet.sync,
		            random_next(&world->random));
		sim_put(world, random_upto(&world->random, world->scenario->fleet.sync), SIM_LOOK,
		        fleet->count++, 0);
	}
	return true;
}

bool sim_fleet_start(struct sim_world *world)
{
	uint32_t most = 0;

	if (!world->policy->policy.leased)
		return true;
	world->fleet = calloc(1, sizeof(*world->fleet));
	if (!world->fleet)
		return false;
	sim_fleet_rule(world->scenario, world->policy, &world->fleet->rule);
	for (int i = 0; i < world->scenario->server_count; i++)
		grow_old(&world->fleet->ledgers[i], &world->fleet->rule);
	for (uint32_t i = 0; i < SIM_CALLERS; i++)
		if (world->callers[i].unit_count > 0 && world->callers[i].profile->library &&
		    !start_caller(world, i, &most))
			return false;
	world->fleet->claims = calloc(most, sizeof(*world->fleet->claims));
	return most == 0 || world->fleet->claims;
}

void sim_fleet_free(struct sim_world *world)
{
	for (int i = 0; i < SIM_CALLERS; i++)
		free(world->callers[i].lent);
	if (!world->fleet)
		return;
	free(world->fleet->agents);
	free(world->fleet->claims);
	free(world->fleet);
}
