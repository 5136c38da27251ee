/* SPDX-License-Identifier: MIT */
/* The course of a simulation: requests arrive, connections are lost, and tries are made of both. */
#include "tool/sim_run.h"

#include "sys/random.h"
#include "tool/sim_fleet.h"
#include "tool/sim_try.h"

#include <math.h>
#include <stdlib.h>

/* ns until the next request. */
static int64_t gap(const struct sim_clients *clients, uint64_t *random)
{
	double mean = 1e12 / (double)clients->rate;
	double share = ((double)(random_next(random) >> 11) + 1) / 9007199254740993.0;

	return clients->even ? (int64_t)mean : (int64_t)(-log(share) * mean);
}

static void arrive(struct sim_world *world, uint32_t place, int64_t now)
{
	const struct sim_clients *clients = &world->scenario->clients[place];
	struct sim_caller *caller = &world->callers[place];
	uint32_t process = caller->turn++ % (uint32_t)caller->profile->processes;
	int64_t next = now + gap(clients, &world->random);
	uint32_t call = sim_call_new(world, place, process, now);

	if (call == SIM_NOBODY)
		return;
	world->tally->requests++;
	sim_step_at(world, now)->requests++;
	if (next < clients->until)
		sim_put(world, next, SIM_ARRIVE, place, 0);
	sim_try_now(world, call, now);
}

static void want_connection(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];

	call->serial++;
	call->asked_at = now;
	call->connected = false;
	call->try.number = 0;
	call->pause = 0;
	world->tally->requests++;
	sim_step_at(world, now)->requests++;
	sim_put_call(world, now, SIM_TRY, place);
}

/* No two hear of it in the same ns, by which leases and the reserve tell streaks apart. */
#define HEARD_WITHIN NS_PER_MS

/* A process that has ended wants nothing. */
static void lose(struct sim_world *world, uint32_t outage, int64_t now)
{
	int server = sim_server_named(world->scenario, world->scenario->outages[outage].server);

	for (uint32_t i = 0; i < world->call_count; i++) {
		const struct sim_call *call = &world->calls[i];

		if (call->loop && call->connected &&
		    now < world->scenario->clients[call->caller].until &&
		    world->callers[call->caller].target == server)
			want_connection(world, i, now + random_upto(&world->random, HEARD_WITHIN));
	}
}

static void begin(struct sim_world *world)
{
	const struct sim_scenario *scenario = world->scenario;

	for (int i = 0; i < scenario->outage_count; i++)
		if (scenario->outages[i].lose)
			sim_put(world, scenario->outages[i].from, SIM_LOSE, (uint32_t)i, 0);
	for (int i = 0; i < scenario->clients_count; i++) {
		const struct sim_clients *clients = &scenario->clients[i];

		if (!clients->loop) {
			if (clients->rate > 0)
				sim_put(world, clients->from + gap(clients, &world->random),
				        SIM_ARRIVE, (uint32_t)i, 0);
			continue;
		}
		for (int64_t n = 0; n < clients->profile.processes; n++) {
			int64_t start =
			    clients->from + n * clients->spread / clients->profile.processes;
			uint32_t call;

			if (start >= lesser(clients->until, scenario->duration))
				break; /* nor do those that come after it */
			call = sim_call_new(world, (uint32_t)i, (uint32_t)n, start);
			if (call == SIM_NOBODY)
				return;
			world->calls[call].loop = true;
			want_connection(world, call, start);
		}
	}
}

static void happen(struct sim_world *world, const struct sim_event *event)
{
	switch (event->what) {
	case SIM_ARRIVE:
		arrive(world, event->who, event->at);
		break;
	case SIM_LOSE:
		lose(world, event->who, event->at);
		break;
	case SIM_LOOK:
	case SIM_ASKED:
	case SIM_TOLD:
		sim_fleet_happens(world, event);
		break;
	default:
		sim_try_happens(world, event);
		break;
	}
}

bool sim_run(const struct sim_scenario *scenario, const struct sim_policy *policy,
             struct sim_tally *tally)
{
	struct sim_world *world = calloc(1, sizeof(*world));
	struct sim_event event;
	bool good = sim_tally_start(tally, scenario) && world;

	if (good && sim_world_start(world, scenario, policy, tally) && sim_fleet_start(world)) {
		begin(world);
		while (!world->is_void && sim_events_take(&world->events, &event))
			happen(world, &event);
		good = !world->is_void && !world->events.full;
	} else {
		good = false;
	}
	if (world) {
		sim_fleet_free(world);
		sim_world_free(world);
	}
	free(world);
	return good;
}
