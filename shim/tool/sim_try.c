/* SPDX-License-Identifier: MIT */
/* A try, from the program that makes it over the server to its end, and what that leads to. */
#include "tool/sim_try.h"

#include "conn/park_options.h"
#include "pace/hold.h"
#include "pace/wait.h"
#include "sys/random.h"
#include "tool/sim_server.h"

/* What few tries come to, out of the way of all others: ten million a second are made. */
#define SELDOM __attribute__((cold))

static void end_at(struct sim_world *world, uint32_t place, int64_t at, enum failure failure)
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

/* The try leaves the program. */
static void go(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];
	const struct sim_server *server = &world->scenario->servers[caller->target];
	int64_t timeout = caller->profile->timeout;
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
	} else if (world->callers[SIM_CLIENTS + caller->target].profile) {
		sim_put_call(world, answer.at, SIM_HAND_ON, place);
		sim_put_call(world, now + timeout, SIM_EXPIRE, place);
	} else {
		end_at(world, place, answer.at, FAILURE_NONE);
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

static void take_over(const struct sim_caller *caller, struct sim_call *call)
{
	struct sim_left *left = &caller->left[call->process];

	call->try.place = left->place;
	call->try.follows = !call->try.asked && left->gave_up;
	left->place = 0;
}

/* A request has been answered, or given up. */
static void finish(struct sim_world *world, uint32_t place, bool good, int64_t now)
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

		end_at(world, call->parent, now + server->latency,
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

/* It goes on at that moment, unless its process has ended by then. */
static void go_on_at(struct sim_world *world, uint32_t place, enum sim_what what, int64_t at,
                     int64_t now)
{
	const struct sim_call *call = &world->calls[place];

	if (call->loop && at >= world->scenario->clients[call->caller].until)
		finish(world, place, false, now);
	else
		sim_put_call(world, at, what, place);
}

/* Its try has failed, or so it was told: what the program does then. */
static void fail(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];
	const struct sim_profile *profile = caller->profile;

	if (!call->loop && profile->tries > 0 && call->try.number >= profile->tries) {
		finish(world, place, false, now);
		return;
	}
	call->pause = profile->pause.base > 0 ? backoff_delay(&profile->pause, call->try.number - 1,
	                                                      call->pause, &world->random)
	                                      : 0;
	go_on_at(world, place, SIM_TRY, now + greater(call->pause, AGAIN_LEAST), now);
}

/* Somebody has asked for it, and waits. */
static bool serves(const struct sim_world *world, const struct sim_call *call, int64_t now)
{
	return world->callers[call->caller].profile->asked && !call->loop &&
	       now - call->asked_at < HOLD_WAITS_FOR;
}

/* It is told that it may not go. */
static void tell_refused(struct sim_world *world, struct sim_call *call, int64_t now)
{
	sim_library_refused(sim_unit_of(world, call), world->policy, &call->try,
	                    SIM_BEGINNING + now);
	world->tally->refused++;
	sim_step_at(world, now)->refused++;
}

/* A connect that does not block: it is redirected, which fails at once, or parked, which ends after
 * a second, if the program waits so long. */
static SELDOM void refuse_later(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];
	struct sim_unit *unit = sim_unit_of(world, call);
	const struct sim_refused refused = { &call->hold, unit->failing, serves(world, call, now) };
	int32_t how = world->policy->policy.nonblocking;
	bool may = !call->try.over_rate && how == NONBLOCKING_PARK, parks;

	if (how == NONBLOCKING_PASS) {
		go(world, place, now);
		return;
	}
	parks = sim_hold_parks(&refused, &caller->storms[call->process], &unit->storm, may, now);
	tell_refused(world, call, now);
	if (parks)
		go_on_at(world, place, SIM_PARKED,
		         now + lesser(PARK_LEAST, caller->profile->timeout), now);
	else
		fail(world, place, now);
}

/* It is held until call->hold.row_at, and looks as often as pace/wait.c does whether the server is
 * back. That ends the holds of all at once: each goes on at a moment of its own, or they would go
 * together. */
static SELDOM void go_on_held(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	int64_t left = call->hold.row_at - now;

	if (budget_is_back(&sim_unit_of(world, call)->budget))
		go_on_at(world, place, SIM_AGAIN, now + random_upto(&world->random, left), now);
	else if (left > WAIT_SLICE)
		go_on_at(world, place, SIM_HELD, now + WAIT_SLICE, now);
	else
		go_on_at(world, place, SIM_AGAIN, call->hold.row_at, now);
}

/* Is it held? One that the rate keeps comes at a moment of its own, after its turn. Else all would
 * keep step with each other for ever, which a machine's scheduling does not let them. */
static SELDOM bool is_held(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	struct sim_unit *unit = sim_unit_of(world, call);
	const struct sim_refused refused = { &call->hold, unit->failing, serves(world, call, now) };
	int64_t most = world->policy->policy.hold, wait;
	int64_t hold = sim_hold_refused(&refused, most, now);

	if (call->try.over_rate) {
		wait = sim_library_rate_wait(unit, world->policy, SIM_BEGINNING + now);
		if (wait >= most)
			return false;
		wait += random_upto(&world->random, most - wait);
		go_on_at(world, place, SIM_AGAIN, now + wait, now);
		return true;
	}
	if (hold <= 0 || !budget_is_back(&unit->budget))
		hold -= random_upto(&world->random, hold / 16);
	if (hold <= 0)
		return false;
	call->hold.row_at = now + hold;
	go_on_held(world, place, now);
	return true;
}

/* The library lets none go. Who spins is held for a moment. */
static void refuse(struct sim_world *world, uint32_t place, bool held, int64_t now)
{
	struct sim_call *call = &world->calls[place];

	if (world->callers[call->caller].storms) {
		refuse_later(world, place, now);
		return;
	}
	if (!held && is_held(world, place, now)) {
		call->try.denials = 0;
		return;
	}
	tell_refused(world, call, now);
	fail(world, place, now);
}

/* Of who does not block: the more he is asked for, the more refusals are no storm. */
static SELDOM void count_asked(struct sim_world *world, const struct sim_call *call, int64_t now)
{
	const struct sim_caller *caller = &world->callers[call->caller];

	if (caller->profile->asked)
		sim_hold_asked(&caller->storms[call->process], &sim_unit_of(world, call)->storm,
		               now);
}

void sim_try_now(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];

	world->tally->tries++;
	call->try.number++;
	call->try.asked =
	    call->try.number == 1 && caller->profile->asked && !call->again && !call->loop;
	call->try.follows = call->try.number > 1;
	if (call->try.number == 1 && !call->loop) {
		take_over(caller, call);
		if (caller->storms)
			count_asked(world, call, now);
	}
	if (!caller->profile->library || sim_library_begin(sim_unit_of(world, call), world->policy,
	                                                   &call->try, SIM_BEGINNING + now))
		go(world, place, now);
	else
		refuse(world, place, false, now);
}

static void ask_again(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];

	sim_hold_over(&call->hold, now);
	if (sim_library_again(sim_unit_of(world, call), world->policy, &call->try,
	                      SIM_BEGINNING + now))
		go(world, place, now);
	else
		refuse(world, place, true, now);
}

static void end(struct sim_world *world, uint32_t place, enum failure failure, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];

	call->serial++;
	if (caller->profile->library)
		sim_library_end(sim_unit_of(world, call), world->policy, &call->try, failure,
		                SIM_BEGINNING + now, &world->random);
	if (failure != FAILURE_NONE) {
		fail(world, place, now);
		return;
	}
	finish(world, place, true, now);
}

static void hand_on(struct sim_world *world, uint32_t place, int64_t now)
{
	uint32_t server = (uint32_t)world->callers[world->calls[place].caller].target;
	struct sim_caller *caller = &world->callers[SIM_CLIENTS + server];
	uint32_t process = caller->turn++ % (uint32_t)caller->profile->processes;
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
	case SIM_HELD:
		go_on_held(world, event->who, event->at);
		break;
	case SIM_AGAIN:
		ask_again(world, event->who, event->at);
		break;
	case SIM_PARKED:
		fail(world, event->who, event->at);
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
