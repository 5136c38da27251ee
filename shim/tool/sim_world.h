/* SPDX-License-Identifier: MIT */
/* The state of a simulation: who calls, the calls under way, the servers. Inside the simulator
 * only. */
#ifndef RETRYBUDGET_TOOL_SIM_WORLD_H
#define RETRYBUDGET_TOOL_SIM_WORLD_H

#include "tool/sim_events.h"
#include "tool/sim_hold.h"
#include "tool/sim_library.h"
#include "tool/sim_server.h"
#include "tool/sim_tally.h"

#define SIM_CALLERS (SIM_CLIENTS + SIM_SERVERS)
#define SIM_NOBODY  UINT32_MAX

enum sim_what {
	SIM_ARRIVE,  /* who: clients; their next request */
	SIM_TRY,     /* who: from here on a call; its next try */
	SIM_HELD,    /* one that is held looks whether the server is back */
	SIM_AGAIN,   /* its hold is over: it asks again */
	SIM_PARKED,  /* its connect was parked, and is over */
	SIM_END,     /* its try has ended */
	SIM_HAND_ON, /* its server has done its own work, and calls the next */
	SIM_EXPIRE,  /* its client does not wait any longer */
	SIM_READ,    /* it reads what a lock protects */
	SIM_WRITE,
	SIM_LOSE,  /* who: an outage; whoever is connected is cut off */
	SIM_LOOK,  /* who: from here on an agent; it looks what its programs want */
	SIM_ASKED, /* the ledger gets its request */
	SIM_TOLD,  /* and it the answer */
};

/* A request of a client, or of a server for a request of its own; or a loop. */
struct sim_call {
	int64_t asked_at; /* ns */
	int64_t pause;    /* ns, the last one */
	int64_t version;  /* that it has read of what a lock protects */
	struct sim_try try;
	struct sim_hold hold;
	uint32_t caller, process;
	uint32_t parent, parent_serial; /* whose request it is for, or SIM_NOBODY */
	uint32_t serial;                /* grows with every try: what is late finds another */
	uint32_t next_free;
	enum failure failure; /* how the try under way will end */
	bool again;           /* its request has been asked for before: that is no new demand */
	bool loop, connected;
};

/* Of a process, what its last request that ended left to the next one. */
struct sim_left {
	int64_t place; /* of a failure, as in struct sim_try */
	bool gave_up;
};

/* Clients, or a server towards the one that it calls. A cache line: each try looks here. */
struct sim_caller {
	const struct sim_profile *profile;
	int target; /* server */
	bool loop;
	bool has_limits;          /* of its own; else they are another caller's */
	struct sim_unit *units;   /* those who share a budget each have one */
	uint32_t unit_count;      /* of its own; 0: they are another caller's */
	uint32_t turn;            /* the process whose turn is next */
	struct bucket *limits;    /* one a host */
	struct sim_left *left;    /* as many as processes */
	struct sim_storm *storms; /* likewise; NULL: connects block */
	struct sim_lent *lent;    /* as many as unit_count, where a fleet lends */
};

struct sim_fleet; /* sim_fleet.c */

struct sim_world {
	const struct sim_scenario *scenario;
	const struct sim_policy *policy;
	struct sim_tally *tally;
	struct sim_events events;
	struct sim_caller callers[SIM_CALLERS];
	struct sim_server_state servers[SIM_SERVERS];
	struct sim_fleet *fleet; /* NULL: the policy draws on none */
	struct sim_call *calls;
	uint32_t call_count, call_room, free; /* first free one, or SIM_NOBODY */
	uint64_t random;
	int tail; /* the last server of the first clients */
	const struct sim_outage *of_tail[SIM_OUTAGES];
	int of_tail_count;
	bool tail_fails; /* before that moment: most tries ask for it */
	int64_t tail_turns;
	bool is_void;
};

/* False: there was no memory. */
bool sim_world_start(struct sim_world *world, const struct sim_scenario *scenario,
                     const struct sim_policy *policy, struct sim_tally *tally);
void sim_world_free(struct sim_world *world);

/* A new call of a process of that caller; SIM_NOBODY: there was no memory. */
uint32_t sim_call_new(struct sim_world *world, uint32_t caller, uint32_t process, int64_t now);
void sim_call_free(struct sim_world *world, uint32_t call);

/* What follows is inline, for each try does it several times. */

/* Has something (enum sim_what) happen at a time, unless the scenario is over by then. */
static inline void sim_put(struct sim_world *world, int64_t at, enum sim_what what, uint32_t who,
                           uint32_t serial)
{
	if (at < world->scenario->duration)
		sim_events_put(&world->events,
		               &(struct sim_event) { at, what, who & SIM_WHO_MOST, serial });
}

/* The same to a call as it is now: if it is at another try by then nothing happens. */
static inline void sim_put_call(struct sim_world *world, int64_t at, enum sim_what what,
                                uint32_t call)
{
	sim_put(world, at, what, call, world->calls[call].serial);
}

/* The step that is counted in now. */
static inline struct sim_step *sim_step_at(struct sim_world *world, int64_t now)
{
	struct sim_tally *tally = world->tally;

	if (now < tally->begin || now >= tally->end)
		sim_tally_step(tally, world->scenario, now);
	return tally->step;
}

/* The unit that a call's process belongs to. */
static inline struct sim_unit *sim_unit_of(struct sim_world *world, const struct sim_call *call)
{
	const struct sim_caller *caller = &world->callers[call->caller];

	if (world->policy->scope == SCOPE_PROCESS)
		return &caller->units[call->process];
	return &caller->units[call->process % (uint32_t)caller->profile->hosts];
}

/* The packet filter of its host. */
static inline struct bucket *sim_limit_of(struct sim_world *world, const struct sim_call *call)
{
	const struct sim_caller *caller = &world->callers[call->caller];

	return &caller->limits[call->process % (uint32_t)caller->profile->hosts];
}

#endif
