/* SPDX-License-Identifier: MIT */
/* A try, from the program that makes it on, by what happens to it. */
#include "tool/sim_try.h"

#include "tool/sim_course.h"
#include "tool/sim_refuse.h"
#include "tool/sim_server.h"

static void take_over(const struct sim_caller *caller, struct sim_call *call)
{
	struct sim_left *left = &caller->left[call->process];

	call->try.place = left->place;
	call->try.follows = !call->try.asked && left->gave_up;
	left->place = 0;
}

/* Of who does not block: the more he is asked for, the more refusals are no storm. */
static void count_asked(struct sim_world *world, const struct sim_call *call, int64_t now)
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
		sim_course_go(world, place, now);
	else
		sim_refuse(world, place, false, now);
}

static void ask_again(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];

	sim_hold_over(&call->hold, now);
	if (sim_library_again(sim_unit_of(world, call), world->policy, &call->try,
	                      SIM_BEGINNING + now))
		sim_course_go(world, place, now);
	else
		sim_refuse(world, place, true, now);
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
		sim_course_fail(world, place, now);
		return;
	}
	sim_course_finish(world, place, true, now);
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
	sim_course_end(world, place, back,
	               call->version == *version ? FAILURE_NONE : FAILURE_STATUS);
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
		sim_refuse_held(world, event->who, event->at);
		break;
	case SIM_AGAIN:
		ask_again(world, event->who, event->at);
		break;
	case SIM_PARKED:
		sim_course_fail(world, event->who, event->at);
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
