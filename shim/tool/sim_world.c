/* SPDX-License-Identifier: MIT */
/* The state of a simulation: made, found in, and given back. */
#include "tool/sim_world.h"

#include <stdlib.h>
#include <string.h>

/* Users are not told apart: who shares with a user's programs shares with the host's. Machines of
 * the same number are one machine, of all [clients]; a server is on machines of its own. */
static bool share_budgets(struct sim_world *world, uint32_t place)
{
	struct sim_caller *caller = &world->callers[place];

	if (world->policy->scope == SCOPE_PROCESS || place >= SIM_CLIENTS)
		return false;
	for (uint32_t i = 0; i < place; i++) {
		const struct sim_caller *other = &world->callers[i];

		if (other->unit_count == 0 || other->target != caller->target ||
		    !other->profile->library)
			continue;
		caller->units = other->units;
		return true;
	}
	return false;
}

/* Machines of a caller, and of all with whom it may share them. */
static int64_t machines_of(const struct sim_world *world, uint32_t place)
{
	int64_t count = world->callers[place].profile->hosts;

	if (place < SIM_CLIENTS)
		for (int i = 0; i < world->scenario->clients_count; i++)
			count = greater(count, world->scenario->clients[i].profile.hosts);
	return count;
}

static bool make_budgets(struct sim_world *world, uint32_t place)
{
	struct sim_caller *caller = &world->callers[place];
	int64_t count = machines_of(world, place);

	if (world->policy->scope == SCOPE_PROCESS)
		count = caller->profile->processes;
	caller->unit_count = (uint32_t)count;
	caller->units = calloc((size_t)count, sizeof(*caller->units));
	return caller->units;
}

/* A packet filter counts what leaves its machine for a server, whoever sent it. */
static bool make_limits(struct sim_world *world, uint32_t place)
{
	struct sim_caller *caller = &world->callers[place];

	for (uint32_t i = 0; place < SIM_CLIENTS && i < place && !caller->limits; i++)
		if (world->callers[i].target == caller->target)
			caller->limits = world->callers[i].limits;
	if (caller->limits)
		return true;
	caller->limits = calloc((size_t)machines_of(world, place), sizeof(*caller->limits));
	caller->has_limits = true;
	return caller->limits;
}

static bool start_caller(struct sim_world *world, uint32_t place, const struct sim_profile *profile,
                         bool loop)
{
	struct sim_caller *caller = &world->callers[place];

	caller->profile = profile;
	caller->loop = loop;
	caller->target = sim_server_named(world->scenario, profile->server);
	caller->left = calloc((size_t)profile->processes, sizeof(*caller->left));
	if (!profile->blocks)
		caller->storms = calloc((size_t)profile->processes, sizeof(*caller->storms));
	return make_limits(world, place) && caller->left && (profile->blocks || caller->storms) &&
	       ((profile->library && share_budgets(world, place)) || make_budgets(world, place));
}

/* The server that the calls of the first clients come to in the end, and its outages. */
static void find_tail(struct sim_world *world)
{
	const struct sim_scenario *scenario = world->scenario;

	world->tail = world->callers[0].target;
	while (world->callers[SIM_CLIENTS + world->tail].profile)
		world->tail = world->callers[SIM_CLIENTS + world->tail].target;
	for (int i = 0; i < scenario->outage_count; i++)
		if (sim_server_named(scenario, scenario->outages[i].server) == world->tail)
			world->of_tail[world->of_tail_count++] = &scenario->outages[i];
}

bool sim_world_start(struct sim_world *world, const struct sim_scenario *scenario,
                     const struct sim_policy *policy, struct sim_tally *tally)
{
	memset(world, 0, sizeof(*world));
	world->scenario = scenario;
	world->policy = policy;
	world->tally = tally;
	world->free = SIM_NOBODY;
	world->random = (uint64_t)scenario->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	for (int i = 0; i < scenario->clients_count; i++)
		if (!start_caller(world, (uint32_t)i, &scenario->clients[i].profile,
		                  scenario->clients[i].loop))
			return false;
	for (int i = 0; i < scenario->server_count; i++)
		if (scenario->servers[i].profile.server[0] &&
		    !start_caller(world, (uint32_t)(SIM_CLIENTS + i), &scenario->servers[i].profile,
		                  false))
			return false;
	find_tail(world);
	return true;
}

void sim_world_free(struct sim_world *world)
{
	for (int i = 0; i < SIM_CALLERS; i++) {
		if (world->callers[i].unit_count > 0)
			free(world->callers[i].units);
		if (world->callers[i].has_limits)
			free(world->callers[i].limits);
		free(world->callers[i].left);
		free(world->callers[i].storms);
	}
	free(world->calls);
	sim_events_free(&world->events);
}

static bool grow(struct sim_world *world)
{
	uint32_t room = world->call_room ? world->call_room * 2 : 1024;
	struct sim_call *calls;

	if (room > SIM_WHO_MOST) /* events tell no more apart: that is more than fits into memory */
		return false;
	calls = realloc(world->calls, room * sizeof(*calls));
	if (!calls)
		return false;
	world->calls = calls;
	world->call_room = room;
	return true;
}

uint32_t sim_call_new(struct sim_world *world, uint32_t caller, uint32_t process, int64_t now)
{
	uint32_t place = world->free, serial = 0;

	if (place != SIM_NOBODY) {
		world->free = world->calls[place].next_free;
		serial = world->calls[place].serial + 1;
	} else if (world->call_count == world->call_room && !grow(world)) {
		world->is_void = true;
		return SIM_NOBODY;
	} else {
		place = world->call_count++;
	}
	world->calls[place] = (struct sim_call) {
		.asked_at = now,
		.caller = caller,
		.process = process,
		.parent = SIM_NOBODY,
		.serial = serial,
	};
	return place;
}

void sim_call_free(struct sim_world *world, uint32_t call)
{
	world->calls[call].serial++;
	world->calls[call].next_free = world->free;
	world->free = call;
}
