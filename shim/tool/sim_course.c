/* SPDX-License-Identifier: MIT */
/* The course of a try: over the server to its end, and on to the next one of its request. */
#include "tool/sim_course.h"

#include "tool/sim_server.h"

void sim_course_end(struct sim_world *world, uint32_t place, int64_t at, enum failure failure)
{
	world->calls[place].failure = failure;
	sim_put_call(world, at, SIM_END, place);
}

static void look_at_tail(struct sim_world *world, int64_t now)
{
	world->tail_fails = false;
	world->tail_turns = INT64_MAX;
	for (int i = 0; i < world->of_tail_count; i++) {
		world->tail_fails |= sim_outage_is_on(world->of_tail[i], now);
		world->tail_turns =
		    lesser(world->tail_turns, sim_outage_turns(world->of_tail[i], now));
	}
}

/* An outage of the last server is on. */
static bool is_failing(struct sim_world *world, int64_t now)
{
	if (now >= world->tail_turns)
		look_at_tail(world, now);
	return world->tail_fails;
}

static void count_reached(struct sim_world *world, const struct sim_call *call, int64_t now)
{
	int server = world->callers[call->caller].target;
	bool is_retry = world->callers[call->caller].profile->library && call->try.retry;

	world->tally->reached_each[server]++;
	if (server != world->tail)
		return;
	world->tally->reached++;
	sim_step_at(world, now)->reached++;
	if (!is_failing(world, now))
		return;
	world->tally->reached_failing++;
	sim_step_at(world, now)->retries += is_retry;
}

/* Burst of the common packet filters. */
#define LIMIT_BURST (5 * MT_PER_TOKEN)

static bool is_dropped(struct sim_world *world, const struct sim_call *call, int64_t now)
{
	struct bucket_rule rule = { .capacity = LIMIT_BURST, .start = PPM_WHOLE };
	int64_t limit = world->callers[call->caller].profile->limit;

	if (limit <= 0)
		return false;
	rule.floor = limit;
	return bucket_withdraw(sim_limit_of(world, call), &rule, MT_PER_TOKEN,
	                       SIM_BEGINNING + now) < 0;
}

void sim_course_go(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];
	const struct sim_server *server = &world->scenario->servers[caller->target];
	int64_t timeout = caller->profile->timeout;
	struct sim_answer answer;

	if (is_dropped(world, call, now)) {
		world->tally->dropped++;
		sim_course_end(world, place, now + timeout, FAILURE_TIMEOUT);
		return;
	}
	count_reached(world, call, now);
	answer = sim_server_take(&world->servers[caller->target], world->scenario, caller->target,
	                         timeout, now, &world->random);
	if (answer.failure != FAILURE_NONE) {
		sim_course_end(world, place, answer.at, answer.failure);
	} else if (server->lock) {
		sim_put_call(world, now + sim_server_way(server, &world->random), SIM_READ, place);
	} else if (world->callers[SIM_CLIENTS + caller->target].profile) {
		sim_put_call(world, answer.at, SIM_HAND_ON, place);
		sim_put_call(world, now + timeout, SIM_EXPIRE, place);
	} else {
		sim_course_end(world, place, answer.at, FAILURE_NONE);
	}
}

/* A request of that server comes to the other one, too. */
static bool leads_to(const struct sim_world *world, int server, int other)
{
	while (server != other) {
		if (!world->callers[SIM_CLIENTS + server].profile)
			return false;
		server = world->callers[SIM_CLIENTS + server].target;
	}
	return true;
}

/* Since when it could have been answered. */
static int64_t since(const struct sim_world *world, const struct sim_call *call, int64_t now)
{
	const struct sim_scenario *scenario = world->scenario;
	int64_t since = call->asked_at;

	for (int i = 0; call->loop && i < scenario->outage_count; i++)
		if (scenario->outages[i].until <= now &&
		    leads_to(world, world->callers[call->caller].target,
		             sim_server_named(scenario, scenario->outages[i].server)))
			since = greater(since, scenario->outages[i].until);
	return since;
}

/* The thread of a request that was given up goes on to the next one of its process; where that has
 * several of them, theirs are gone. */
static void leave(struct sim_world *world, const struct sim_call *call, bool good)
{
	struct sim_left *left = &world->callers[call->caller].left[call->process];

	left->gave_up = !good;
	if (good)
		return;
	sim_library_abandoned(sim_unit_of(world, call), left->place);
	left->place = call->try.place;
}

void sim_course_finish(struct sim_world *world, uint32_t place, bool good, int64_t now)
{
	struct sim_call *call = &world->calls[place];

	leave(world, call, good);
	if (call->caller < SIM_CLIENTS) {
		if (good) {
			world->tally->served++;
			world->tally->last_served = now;
			sim_step_at(world, now)->served++;
		} else {
			world->tally->given_up++;
		}
		sim_tally_delay(world->tally, now - since(world, call, now));
	} else if (call->parent != SIM_NOBODY &&
	           world->calls[call->parent].serial == call->parent_serial) {
		const struct sim_server *server =
		    &world->scenario->servers[call->caller - SIM_CLIENTS];

		sim_course_end(world, call->parent, now + server->latency,
		               good || !server->needs ? FAILURE_NONE : FAILURE_STATUS);
	}
	if (call->loop)
		call->connected = good;
	else
		sim_call_free(world, place);
}

/* That programs take at least from a failure to the next try. Without it a moment could hold tries
 * without end. */
#define AGAIN_LEAST (NS_PER_MS / 20)

void sim_course_goes_on(struct sim_world *world, uint32_t place, enum sim_what what, int64_t at,
                        int64_t now)
{
	const struct sim_call *call = &world->calls[place];

	if (call->loop && at >= world->scenario->clients[call->caller].until)
		sim_course_finish(world, place, false, now);
	else
		sim_put_call(world, at, what, place);
}

void sim_course_fail(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];
	const struct sim_profile *profile = caller->profile;

	if (!call->loop && profile->tries > 0 && call->try.number >= profile->tries) {
		sim_course_finish(world, place, false, now);
		return;
	}
	call->pause = profile->pause.base > 0 ? backoff_delay(&profile->pause, call->try.number - 1,
	                                                      call->pause, &world->random)
	                                      : 0;
	sim_course_goes_on(world, place, SIM_TRY, now + greater(call->pause, AGAIN_LEAST), now);
}
