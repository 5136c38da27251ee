/* SPDX-License-Identifier: MIT */
/* What becomes of a try that may not go: the carrying out of pace/, under a virtual clock. */
#include "tool/sim_refuse.h"

#include "conn/park_options.h"
#include "pace/hold.h"
#include "pace/wait.h"
#include "sys/random.h"
#include "tool/sim_course.h"

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
static void refuse_later(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	const struct sim_caller *caller = &world->callers[call->caller];
	struct sim_unit *unit = sim_unit_of(world, call);
	const struct sim_refused refused = { &call->hold, unit->failing, serves(world, call, now) };
	int32_t how = world->policy->policy.nonblocking;
	bool may = !call->try.over_rate && how == NONBLOCKING_PARK, parks;

	if (how == NONBLOCKING_PASS) {
		sim_course_go(world, place, now);
		return;
	}
	parks = sim_hold_parks(&refused, &caller->storms[call->process], &unit->storm, may, now);
	tell_refused(world, call, now);
	if (parks)
		sim_course_goes_on(world, place, SIM_PARKED,
		                   now + lesser(PARK_LEAST, caller->profile->timeout), now);
	else
		sim_course_fail(world, place, now);
}

/* That the server is back ends the holds of all at once: each goes on at a moment of its own, or
 * they would go together. */
void sim_refuse_held(struct sim_world *world, uint32_t place, int64_t now)
{
	struct sim_call *call = &world->calls[place];
	int64_t left = call->hold.row_at - now;

	if (budget_is_back(&sim_unit_of(world, call)->budget))
		sim_course_goes_on(world, place, SIM_AGAIN, now + random_upto(&world->random, left),
		                   now);
	else if (left > WAIT_SLICE)
		sim_course_goes_on(world, place, SIM_HELD, now + WAIT_SLICE, now);
	else
		sim_course_goes_on(world, place, SIM_AGAIN, call->hold.row_at, now);
}

/* Is it held? One that the rate keeps comes at a moment of its own, after its turn. Else all would
 * keep step with each other for ever, which a machine's scheduling does not let them. */
static bool is_held(struct sim_world *world, uint32_t place, int64_t now)
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
		sim_course_goes_on(world, place, SIM_AGAIN, now + wait, now);
		return true;
	}
	if (hold <= 0 || !budget_is_back(&unit->budget))
		hold -= random_upto(&world->random, hold / 16);
	if (hold <= 0)
		return false;
	call->hold.row_at = now + hold;
	sim_refuse_held(world, place, now);
	return true;
}

void sim_refuse(struct sim_world *world, uint32_t place, bool held, int64_t now)
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
	sim_course_fail(world, place, now);
}
