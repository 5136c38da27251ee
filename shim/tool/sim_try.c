/* SPDX-License-Identifier: MIT */
/* A try, from the program that makes it over the server to its end, and what that leads to. */
#include "tool/sim_try.h"

#include "sys/random.h"
#include "tool/sim_server.h"

static void end_at(struct sim_world *world, uint32_t place, int64_t at, enum failure failure)
{
	world->calls[place].failure = failure;
	sim_put_call(world, at, SIM_END, place);
}

/* An outage of the last server is on. */
static bool is_failing(const struct sim_world *world, int64_t now)
{
	for (int i = 0; i < world->scenario->outage_count; i++) {
		const struct sim_outage *outage = &world->scenario->outages[i];

		if (now >= outage->from && now < outage->until)
			return true;
	}
	return false;
}

static void count_reached(struct sim_world *world, const struct sim_call *call, int64_t now)
{
	int server = world->callers[call->caller].target;
	bool is_retry = world->callers[call->caller].habits->library && call->try.retry;

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

	rule.floor = world->callers[call->caller].habits->limit;
	return rule.floor > 0 && bucket_withdraw(sim_limit_of(world, call), &rule, MT_PER_TOKEN,
	                                         SIM_BEGINNING + now) < 0;
}

/* The try leaves the program. */
static void go(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];
	const struct sim_server *server = &world->scenario->servers[caller->target];
	int64_t timeout = caller->habits->timeout;
	struct sim_answer answer;

	if (is_dropped(world, call, now)) {
		world->tally->dropped++;
		end_at(world, place, now + timeout, FAILURE_TIMEOUT);
		return;
	}
	count_reached(world, call, now);
	answer = sim_server_take(&world->servers[caller->target], world->scenario, caller->target,
	                         timeout, now, &world->random);
	if (answer.failure != FAILURE_NONE) {
		end_at(world, place, answer.at, answer.failure);
	} else if (server->lock) {
		sim_put_call(world, now + sim_server_way(server, &world->random), SIM_READ, place);
	} else if (world->callers[SIM_CLIENTS + caller->target].habits) {
		sim_put_call(world, answer.at, SIM_HAND_ON, place);
		sim_put_call(world, now + timeout, SIM_EXPIRE, place);
	} else {
		end_at(world, place, answer.at, FAILURE_NONE);
	}
}

/* Since when it could have been answered. */
static int64_t since(const struct sim_world *world, const struct sim_call *call, int64_t now)
{
	int64_t since = call->asked_at;

	for (int i = 0; call->loop && i < world->scenario->outage_count; i++)
		if (world->scenario->outages[i].until <= now)
			since = greater(since, world->scenario->outages[i].until);
	return since;
}

/* A request has been answered, or given up. */
static void finish(struct sim_world *world, uint32_t place, bool good, int64_t now)
{
	struct sim_call *call = &world->calls[place];

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

		end_at(world, call->parent, now + server->latency,
		       good ? FAILURE_NONE : FAILURE_STATUS);
	}
	if (call->loop)
		call->connected = true;
	else
		sim_call_free(world, place);
}

/* Its try has failed, or so it was told: what the program does then. */
static void fail(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];
	const struct sim_habits *habits = caller->habits;

	caller->failed[call->process] = true;
	if (!call->loop && habits->tries > 0 && call->try.number >= habits->tries) {
		finish(world, place, false, now);
		return;
	}
	call->pause = habits->pause.base > 0 ? backoff_delay(&habits->pause, call->try.number - 1,
	                                                     call->pause, &world->random)
	                                     : 0;
	sim_put_call(world, now + call->pause, SIM_TRY, place);
}

/* How long it is held: on the way back until a moment of its own. Else all would keep step with
 * each other for ever, which a machine's scheduling does not let them. */
static int64_t hold_of(struct sim_world *world, const struct sim_call *call, int64_t now)
{
	int64_t hold = world->policy->policy.hold;
	bool returns = sim_library_returns(sim_unit_of(world, call), SIM_BEGINNING + now);

	return returns ? random_upto(&world->random, hold)
	               : hold - random_upto(&world->random, hold / 16);
}

/* The library lets none go. Who does nothing but try again is held for a moment. */
static void refuse(struct sim_world *world, uint32_t place, bool held, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	int64_t hold = world->policy->policy.hold;

	if (call->loop && !held && hold > world->callers[call->caller].habits->pause.base) {
		sim_put_call(world, now + hold_of(world, call, now), SIM_AGAIN, place);
		return;
	}
	world->tally->refused++;
	sim_step_at(world, now)->refused++;
	fail(world, place, now);
}

void sim_try_now(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];

	world->tally->tries++;
	call->try.number++;
	call->try.asked =
	    call->try.number == 1 && caller->habits->asked && !call->again && !call->loop;
	call->try.follows =
	    call->try.number > 1 || (!call->try.asked && caller->failed[call->process]);
	if (!caller->habits->library || sim_library_begin(sim_unit_of(world, call), world->policy,
	                                                  &call->try, SIM_BEGINNING + now))
		go(world, place, now);
	else
		refuse(world, place, false, now);
}

static void ask_again(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];

	if (sim_library_again(sim_unit_of(world, call), world->policy, &call->try,
	                      SIM_BEGINNING + now))
		go(world, place, now);
	else
		refuse(world, place, true, now);
}

static void end(struct sim_world *world, uint32_t place, enum failure failure, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	struct sim_caller *caller = &world->callers[call->caller];

	call->serial++;
	if (caller->habits->library)
		sim_library_end(sim_unit_of(world, call), world->policy, &call->try, failure,
		                SIM_BEGINNING + now, &world->random);
	if (failure != FAILURE_NONE) {
		fail(world, place, now);
		return;
	}
	caller->failed[call->process] = false;
	finish(world, place, true, now);
}

static void hand_on(struct sim_world *world, uint32_t place, int64_t now)
{
	uint32_t server = (uint32_t)world->callers[world->calls[place].caller].target;
	struct sim_caller *caller = &world->callers[SIM_CLIENTS + server];
	uint32_t process = caller->turn++ % (uint32_t)caller->habits->processes;
	uint32_t mine = sim_call_new(world, SIM_CLIENTS + server, process, now);

	if (mine == SIM_NOBODY)
		return;
	world->calls[mine].parent = place;
	world->calls[mine].parent_serial = world->calls[place].serial;
	world->calls[mine].again = world->calls[place].again || world->calls[place].try.number > 1;
	sim_try_now(world, mine, now);
}

static void read_or_write(struct sim_world *world, uint32_t place, bool writes, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	int target = world->callers[call->caller].target;
	const struct sim_server *server = &world->scenario->servers[target];
	int64_t *version = &world->servers[target].version;
	int64_t back = now + sim_server_way(server, &world->random);

	if (!writes) {
		call->version = *version;
		sim_put_call(world, back + sim_server_way(server, &world->random), SIM_WRITE,
		             place);
		return;
	}
	end_at(world, place, back, call->version == *version ? FAILURE_NONE : FAILURE_STATUS);
	if (call->version == *version)
		++*version;
}

void sim_try_happens(struct sim_world *world, const struct sim_event *event)
{
	if (world->calls[event->who].serial != event->serial)
		return;
	switch (event->what) {
	case SIM_TRY:
		sim_try_now(world, event->who, event->at);
		break;
	case SIM_AGAIN:
		ask_again(world, event->who, event->at);
		break;
	case SIM_END:
		end(world, event->who, world->calls[event->who].failure, event->at);
		break;
	case SIM_HAND_ON:
		hand_on(world, event->who, event->at);
		break;
	case SIM_EXPIRE:
		end(world, event->who, FAILURE_TIMEOUT, event->at);
		break;
	default:
		read_or_write(world, event->who, event->what == SIM_WRITE, event->at);
		break;
	}
}
