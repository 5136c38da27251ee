/* SPDX-License-Identifier: MIT */
/* The state of a simulation: made, found in, and given back. */
#include "tool/sim_world.h"

#include <stdlib.h>
#include <string.h>

/* Users are not told apart: who shares with a user's programs shares with the host's. */
static int64_t units_of(const struct sim_habits *habits, const struct sim_policy *policy)
{
	return policy->scope == SCOPE_PROCESS ? habits->processes : habits->hosts;
}

static bool start_caller(struct sim_world *world, uint32_t place, const struct sim_habits *habits,
                         bool loop)
{
	struct sim_caller *caller = &world->callers[place];

	caller->habits = habits;
	caller->loop = loop;
	caller->target = sim_server_named(world->scenario, habits->server);
	caller->units = calloc((size_t)units_of(habits, world->policy), sizeof(*caller->units));
	caller->limits = calloc((size_t)habits->hosts, sizeof(*caller->limits));
	caller->failed = calloc((size_t)habits->processes, sizeof(*caller->failed));
	return caller->units && caller->limits && caller->failed;
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
		if (!start_caller(world, (uint32_t)i, &scenario->clients[i].habits,
		                  scenario->clients[i].loop))
			return false;
	for (int i = 0; i < scenario->server_count; i++)
		if (scenario->servers[i].habits.server[0] &&
		    !start_caller(world, (uint32_t)(SIM_CLIENTS + i), &scenario->servers[i].habits,
		                  false))
			return false;
	world->tail = world->callers[0].target;
	while (world->callers[SIM_CLIENTS + world->tail].habits)
		world->tail = world->callers[SIM_CLIENTS + world->tail].target;
	return true;
}

void sim_world_free(struct sim_world *world)
{
	for (int i = 0; i < SIM_CALLERS; i++) {
		free(world->callers[i].units);
		free(world->callers[i].limits);
		free(world->callers[i].failed);
	}
	free(world->calls);
	sim_events_free(&world->events);
}

static bool grow(struct sim_world *world)
{
	uint32_t room = world->call_room ? world->call_room * 2 : 1024;
	struct sim_call *calls = realloc(world->calls, room * sizeof(*calls));

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

struct sim_unit *sim_unit_of(struct sim_world *world, const struct sim_call *call)
{
	const struct sim_caller *caller = &world->callers[call->caller];

	if (world->policy->scope == SCOPE_PROCESS)
		return &caller->units[call->process];
	return &caller->units[call->process % (uint32_t)caller->habits->hosts];
}

struct bucket *sim_limit_of(struct sim_world *world, const struct sim_call *call)
{
	const struct sim_caller *caller = &world->callers[call->caller];

	return &caller->limits[call->process % (uint32_t)caller->habits->hosts];
}

void sim_put(struct sim_world *world, int64_t at, enum sim_what what, uint32_t who, uint32_t serial)
{
	if (at < world->scenario->duration)
		sim_events_put(&world->events, &(struct sim_event) { at, what, who, serial });
}

void sim_put_call(struct sim_world *world, int64_t at, enum sim_what what, uint32_t call)
{
	sim_put(world, at, what, call, world->calls[call].serial);
}

struct sim_step *sim_step_at(struct sim_world *world, int64_t now)
{
	return sim_tally_step(world->tally, world->scenario, now);
}
