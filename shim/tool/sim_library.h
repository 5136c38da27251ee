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

/* Moments of the budgets begin here; 0 would be "never". */
#define SIM_BEGINNING (INT64_C(1000000) * NS_PER_S)

struct sim_policy {
	struct policy policy;
	struct bucket_rule process_rule;
	enum scope scope;
};

/* The policy whose leases the agents of a simulated fleet write. */
#define SIM_FLEET_LABEL "fleet"

/* What those who share a budget know of one destination. All-zero: nothing. */
struct sim_unit {
	struct budget budget;
	struct bucket process;
	int64_t tried_again; /* retries seen */
	/* What the agent of a host reads. */
	int64_t retries, good, bad; /* sums */
	int64_t used_at;            /* ns; 0: never */
	enum failure last_failure;
};

/* One try, as the program makes it. */
struct sim_try {
	uint32_t number; /* of its request, from 1 */
	bool asked;      /* a first try, of a request that came from outside */
	bool follows;    /* the last thing that this thread did was to fail there */
	bool retry;      /* what the library takes it for */
	bool unclear;
	bool permit; /* of a half-open breaker */
	int64_t began;
};

/* Judges the try. True: it goes. */
bool sim_library_begin(struct sim_unit *unit, const struct sim_policy *policy, struct sim_try *try,
                       int64_t now);

/* One that was held asks again. True: it goes. */
bool sim_library_again(struct sim_unit *unit, const struct sim_policy *policy, struct sim_try *try,
                       int64_t now);

/* How one that went has ended; FAILURE_NONE: it was answered. */
void sim_library_end(struct sim_unit *unit, const struct sim_policy *policy,
                     const struct sim_try *try, enum failure failure, int64_t now,
                     uint64_t *random);

/* Those who were throttled are on their way back. */
bool sim_library_returns(const struct sim_unit *unit, int64_t now);

/* Takes the safeguards away that are ours alone: what the rules of others do without. */
void sim_policy_original(struct sim_policy *policy);

#endif
