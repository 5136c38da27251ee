/* SPDX-License-Identifier: MIT */
/*
 * One queue, first in first out, as a single number: the moment at which what was taken in is done.
 * A try that will be answered too late is worked on all the same, as a real server does that does
 * not hear its client give up: that is what keeps a system down that has been overloaded once.
 */
#include "tool/sim_server.h"

#include "sys/random.h"
#include "tool/sim_library.h"

#define LOAD_SLICE (NS_PER_S / SIM_LOAD_SLICES)

static bool happens(int64_t share, uint64_t *random)
{
	return share >= PPM_WHOLE || (share > 0 && random_upto(random, PPM_WHOLE - 1) < share);
}

int64_t sim_outage_turns(const struct sim_outage *outage, int64_t now)
{
	int64_t next = outage->until;

	if (now < outage->from)
		return outage->from;
	if (now >= outage->until)
		return INT64_MAX;
	if (outage->flap > 0)
		next = outage->from + ((now - outage->from) / outage->flap + 1) * outage->flap;
	return lesser(next, outage->until);
}

/* Tries in the last second, this one included. */
static int64_t load_now(struct sim_server_state *state, int64_t now)
{
	int64_t slice = now / LOAD_SLICE;

	for (int n = 0; state->slice < slice && n < SIM_LOAD_SLICES; n++) {
		int64_t *oldest = &state->load[++state->slice % SIM_LOAD_SLICES];

		state->loaded -= *oldest;
		*oldest = 0;
	}
	state->slice = slice;
	state->load[slice % SIM_LOAD_SLICES]++;
	return ++state->loaded;
}

/* Longer than any play, and short enough for more to be added. */
#define FAR (INT64_MAX / 4)

/* It has so much more to do. */
static void take_in(struct sim_server_state *state, int64_t length, int64_t now)
{
	state->busy_until = lesser(greater(state->busy_until, now) + length, FAR);
}

static struct sim_answer refuse(struct sim_server_state *state, const struct sim_server *server,
                                enum failure failure, int64_t now)
{
	if (server->capacity > 0)
		take_in(state,
		        server->refusal * (MT_PER_TOKEN * NS_PER_S / server->capacity) / PPM_WHOLE,
		        now);
	return (struct sim_answer) { now + server->latency, failure };
}

/* Takes a token of the admission before it. */
static bool admits(struct sim_server_state *state, const struct sim_server *server, int64_t now)
{
	struct admission_rule rule = {
		.mode = MODE_ENFORCE,
		.rate = server->admission,
		.burst = greater(server->admission / 10, MT_PER_TOKEN),
	};

	return server->admission <= 0 ||
	       admission_take(&state->admission, &rule, 0, SIM_BEGINNING + now);
}

/* What it can do falls to nothing from its capacity to its collapse: so much longer a try takes. No
 * nearer to that than by one a second, where a try takes `collapse` - 1 seconds. */
static int64_t stretched(const struct sim_server *server, int64_t length, int64_t load)
{
	int64_t most = server->capacity * server->collapse / 1000;
	int64_t left = greater(most - load * MT_PER_TOKEN, MT_PER_TOKEN);

	if (left >= most - server->capacity)
		return length;
	return (int64_t)((double)length * (double)(most - server->capacity) / (double)left);
}

static struct sim_answer work(struct sim_server_state *state, const struct sim_server *server,
                              int64_t slows, int64_t load, int64_t timeout, int64_t now)
{
	int64_t length = MT_PER_TOKEN * NS_PER_S / server->capacity;
	int64_t waiting = greater(state->busy_until - now, 0), end;

	if (waiting / length >= server->queue)
		return refuse(state, server, FAILURE_REFUSED, now);
	length = length * slows / 1000;
	if (server->curve == SIM_CURVE_LINEAR)
		length = stretched(server, length, load);
	take_in(state, length, now);
	end = state->busy_until + server->latency;
	if (end - now > timeout)
		return (struct sim_answer) { now + timeout, FAILURE_TIMEOUT };
	return (struct sim_answer) { end, FAILURE_NONE };
}

struct sim_answer sim_server_take(struct sim_server_state *state,
                                  const struct sim_scenario *scenario, int place, int64_t timeout,
                                  int64_t now, uint64_t *random)
{
	const struct sim_server *server = &scenario->servers[place];
	int64_t slows = 1000, load = load_now(state, now);

	for (int i = 0; i < scenario->outage_count; i++) {
		const struct sim_outage *outage = &scenario->outages[i];

		if (!sim_outage_is_on(outage, now) ||
		    (scenario->server_count > 1 &&
		     sim_server_named(scenario, outage->server) != place))
			continue;
		if (happens(outage->hangs, random))
			return (struct sim_answer) { now + timeout, FAILURE_TIMEOUT };
		if (happens(outage->fails, random))
			return (struct sim_answer) { now + server->latency, FAILURE_REFUSED };
		slows = greater(slows, outage->slows);
	}
	if (!admits(state, server, now))
		return refuse(state, server, FAILURE_STATUS, now);
	if (server->capacity <= 0)
		return (struct sim_answer) { now + server->latency * slows / 1000, FAILURE_NONE };
	if (server->collapse > 0 &&
	    load * MT_PER_TOKEN > server->capacity * server->collapse / 1000)
		return refuse(state, server, FAILURE_REFUSED, now);
	return work(state, server, slows, load, timeout, now);
}

int64_t sim_server_way(const struct sim_server *server, uint64_t *random)
{
	int64_t sum = 0, wide = server->latency / 5;

	for (int i = 0; i < 12; i++) /* variance 1, near enough to normal */
		sum += random_upto(random, wide);
	return greater(server->latency + sum - 6 * wide, 0);
}
