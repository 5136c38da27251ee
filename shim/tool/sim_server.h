/* SPDX-License-Identifier: MIT */
/* A simulated server: what becomes of a try that reaches it, known at once. */
#ifndef RETRYBUDGET_TOOL_SIM_SERVER_H
#define RETRYBUDGET_TOOL_SIM_SERVER_H

#include "budget/admission.h"
#include "tool/sim_scenario.h"

#define SIM_LOAD_SLICES 10 /* of a tenth of a second */

/* All-zero: nothing has come yet. */
struct sim_server_state {
	int64_t busy_until; /* when it has answered what it has taken in */
	int64_t slice;      /* the tenth of a second that is counted now */
	int64_t load[SIM_LOAD_SLICES];
	int64_t loaded; /* their sum */
	struct admission admission;
	int64_t version; /* of what the lock protects */
};

/* How a try ends, and when. */
struct sim_answer {
	int64_t at;
	enum failure failure; /* FAILURE_NONE: it is answered, or handed on */
};

/* It fails at that moment, one that comes and goes included. */
static inline bool sim_outage_is_on(const struct sim_outage *outage, int64_t now)
{
	if (now < outage->from || now >= outage->until)
		return false;
	return outage->flap <= 0 || (now - outage->from) / outage->flap % 2 == 0;
}

/* The next moment at which that may be otherwise. */
int64_t sim_outage_turns(const struct sim_outage *outage, int64_t now);

/* now, timeout: ns of the simulation. beginning: added to ask what has a clock of its own. */
struct sim_answer sim_server_take(struct sim_server_state *state,
                                  const struct sim_scenario *scenario, int server, int64_t timeout,
                                  int64_t now, uint64_t *random);

/* A way to the server or back, of those that vary: a normal distribution, a fifth of it wide. */
int64_t sim_server_way(const struct sim_server *server, uint64_t *random);

#endif
