/* SPDX-License-Identifier: MIT */
/* What comes out of a simulation: numbers over time, and the metrics made of them. */
#ifndef RETRYBUDGET_TOOL_SIM_TALLY_H
#define RETRYBUDGET_TOOL_SIM_TALLY_H

#include "tool/sim_scenario.h"

/* Of one step, of all clients and of the last server. */
struct sim_step {
	uint32_t requests, served, reached, refused;
	uint32_t retries; /* of what has reached it while it failed */
};

#define SIM_DELAYS 1024 /* classes of delays, each a thirty-second wider than the one before */

struct sim_tally {
	struct sim_step *steps, *step; /* all, and the one that is counted in */
	int64_t begin, end;            /* ns, of that one */
	int step_count;
	int64_t requests; /* or connections wanted */
	int64_t served, given_up;
	int64_t tries;           /* that programs made */
	int64_t refused;         /* by the library */
	int64_t dropped;         /* by a packet filter */
	int64_t reached;         /* the last server */
	int64_t reached_failing; /* while it failed */
	int64_t last_served;     /* ns */
	int64_t reached_each[SIM_SERVERS];
	uint32_t delays[SIM_DELAYS]; /* of all that ended; of loops: since they could connect */
};

/* The metrics of one run. */
enum sim_metric {
#define METRIC(name, word, form, help) SIM_##name,
#include "tool/sim_metrics.def"
	SIM_METRICS,
};

struct sim_result {
	double metric[SIM_METRICS]; /* -1: never, or none */
	bool is_void;               /* there was no memory */
};

/* The word of a metric, its printf form, and its help. */
const char *sim_metric_name(enum sim_metric metric);
const char *sim_metric_form(enum sim_metric metric);
const char *sim_metric_help(enum sim_metric metric);

/* SIM_METRICS: there is none of that name. */
enum sim_metric sim_metric_named(const char *name);

bool sim_tally_start(struct sim_tally *tally, const struct sim_scenario *scenario);
void sim_tally_free(struct sim_tally *tally);

/* Counts in the step of that moment from now on. */
void sim_tally_step(struct sim_tally *tally, const struct sim_scenario *scenario, int64_t now);

void sim_tally_delay(struct sim_tally *tally, int64_t delay);

/* When the last outage ends, from which on the recovery is counted; -1: there is none. */
int64_t sim_outages_end(const struct sim_scenario *scenario);

void sim_tally_sum_up(const struct sim_tally *tally, const struct sim_scenario *scenario,
                      struct sim_result *result);

#endif
