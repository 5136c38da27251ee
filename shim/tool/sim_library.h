/* SPDX-License-Identifier: MIT */
/*
 * The library in a simulated program: the budgets and rules of the real one, without its sockets.
 * What the real one has to find out (is this request new? was it asked for?) is known here, and
 * told to the rules as the evidence that it would have found.
 */
#ifndef RETRYBUDGET_TOOL_SIM_LIBRARY_H
#define RETRYBUDGET_TOOL_SIM_LIBRARY_H

#include "budget/budget.h"
#include "config/scope.h"
#include "tool/sim_hold.h"

/* Moments of the budgets begin here; 0 would be "never". */
#define SIM_BEGINNING (INT64_C(1000000) * NS_PER_S)

struct sim_policy {
	struct policy policy;
	struct bucket_rule process_rule;
	enum scope scope;
	bool original; /* sim_policy_original() */
};

/* The policy whose leases the agents of a simulated fleet write. */
#define SIM_FLEET_LABEL "fleet"

/* What those who share a budget know of one destination. All-zero: nothing. */
struct sim_unit {
	struct budget budget;
	struct bucket process;
	int64_t tried_again; /* retries seen */
	int64_t failing;     /* ns that a failure takes; 0: not known */
	/* Failures and refusals that no try has answered yet: those with a place, and the rest. */
	int64_t placed, unplaced;
	int64_t forgiven; /* how often all of them were dropped */
	/* What the agent of a host reads. */
	int64_t retries, good, bad; /* sums */
	int64_t won, lost;          /* retries that were answered, and that failed */
	int64_t used_at;            /* ns; 0: never */
	enum failure last_failure;
	struct sim_storm storm; /* of all who share it */
};

/* One try, as the program makes it. */
struct sim_try {
	uint32_t number; /* of its request, from 1 */
	bool asked;      /* a first try, of a request that came from outside */
	bool follows;    /* the last thing that this thread did was to fail there */
	bool retry;      /* what the library takes it for */
	bool unclear;
	bool permit;      /* of a half-open breaker */
	bool over_rate;   /* all that keeps it is the policy's rate */
	uint32_t denials; /* refused since one went */
	uint32_t vain;    /* failed since an answer */
	int64_t place;    /* of its failure: sim_unit.forgiven + 1 when that got one; 0: none */
	int64_t began;
};

/* Judges the try. True: it goes. */
bool sim_library_begin(struct sim_unit *unit, const struct sim_policy *policy, struct sim_try *try,
                       int64_t now);

/* One that was held asks again. True: it goes. */
bool sim_library_again(struct sim_unit *unit, const struct sim_policy *policy, struct sim_try *try,
                       int64_t now);

/* ns until one that is over the rate may go. */
int64_t sim_library_rate_wait(struct sim_unit *unit, const struct sim_policy *policy, int64_t now);

/* It does not go, and its program is told so. */
void sim_library_refused(struct sim_unit *unit, const struct sim_policy *policy,
                         struct sim_try *try, int64_t now);

/* A failure with that place has nobody left who would answer it: whoever comes next does. */
void sim_library_abandoned(struct sim_unit *unit, int64_t place);

/* How one that went has ended; FAILURE_NONE: it was answered. */
void sim_library_end(struct sim_unit *unit, const struct sim_policy *policy, struct sim_try *try,
                     enum failure failure, int64_t now, uint64_t *random);

/* Takes the safeguards away that are ours alone: what the rules of others do without. */
void sim_policy_original(struct sim_policy *policy);

#endif
