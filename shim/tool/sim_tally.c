/* SPDX-License-Identifier: MIT */
/* Metrics: their table, and how they are made of what was counted. */
#include "tool/sim_tally.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *form, *help;
} metrics[] = {
#define METRIC(name, word, form, help) { word, form, help },
#include "tool/sim_metrics.def"
};

const char *sim_metric_name(enum sim_metric metric)
{
	return metrics[metric].name;
}

const char *sim_metric_form(enum sim_metric metric)
{
	return metrics[metric].form;
}

const char *sim_metric_help(enum sim_metric metric)
{
	return metrics[metric].help;
}

enum sim_metric sim_metric_named(const char *name)
{
	int metric = 0;

	while (metric < SIM_METRICS && strcmp(metrics[metric].name, name) != 0)
		metric++;
	return metric;
}

bool sim_tally_start(struct sim_tally *tally, const struct sim_scenario *scenario)
{
	memset(tally, 0, sizeof(*tally));
	tally->step_count = (int)((scenario->duration + scenario->step - 1) / scenario->step);
	tally->steps = calloc((size_t)tally->step_count, sizeof(*tally->steps));
	return tally->steps;
}

void sim_tally_free(struct sim_tally *tally)
{
	free(tally->steps);
	tally->steps = NULL;
}

void sim_tally_step(struct sim_tally *tally, const struct sim_scenario *scenario, int64_t now)
{
	int64_t step = now / scenario->step;

	tally->begin = step * scenario->step;
	tally->end = tally->begin + scenario->step;
	tally->step = &tally->steps[lesser(step, tally->step_count - 1)];
}

/* Five bits behind the first that is set, and where that is; the unit is 1 us. */
static int class_of(int64_t delay)
{
	uint64_t us = (uint64_t)greater(delay, 0) / 1000;
	int high = us < 32 ? 4 : 63 - __builtin_clzll(us);

	return us < 32 ? (int)us : (high - 4) * 32 + (int)(us >> (high - 5) & 31);
}

static double delay_of(int class)
{
	int high = class / 32 + 4;

	if (class < 32)
		return class * 1e-6;
	return (double)((UINT64_C(32) + (uint64_t)(class & 31)) << (high - 5)) * 1e-6;
}

void sim_tally_delay(struct sim_tally *tally, int64_t delay)
{
	int class = class_of(delay);

	tally->delays[class < SIM_DELAYS ? class : SIM_DELAYS - 1]++;
}

/* The delay that this share of the delays does not exceed; -1: there were none. */
static double quantile(const struct sim_tally *tally, double share)
{
	double all = 0, seen = 0;

	for (int i = 0; i < SIM_DELAYS; i++)
		all += tally->delays[i];
	for (int i = 0; i < SIM_DELAYS && all > 0; i++) {
		seen += tally->delays[i];
		if (seen >= all * share)
			return delay_of(i);
	}
	return -1;
}

int64_t sim_outages_end(const struct sim_scenario *scenario)
{
	int64_t end = -1;

	for (int i = 0; i < scenario->outage_count; i++)
		end = greater(end, scenario->outages[i].until);
	return end;
}

static uint32_t all_of(const struct sim_step *step)
{
	return step->reached;
}

static uint32_t retries_of(const struct sim_step *step)
{
	return step->retries;
}

/* Most in any second that begins then or later; steps longer than that are divided. */
static double peak_of(const struct sim_tally *tally, const struct sim_scenario *scenario,
                      int64_t from, uint32_t (*count)(const struct sim_step *step))
{
	int64_t second = greater(NS_PER_S / scenario->step, 1), sum = 0, most = 0;
	int64_t first = (from + scenario->step - 1) / scenario->step;
	double seconds = (double)(second * scenario->step) / (double)NS_PER_S;

	for (int64_t i = first; i < tally->step_count; i++) {
		sum += count(&tally->steps[i]);
		if (i >= first + second)
			sum -= count(&tally->steps[i - second]);
		most = greater(most, sum);
	}
	return (double)most / seconds;
}

static bool is_looping(const struct sim_scenario *scenario)
{
	for (int i = 0; i < scenario->clients_count; i++)
		if (!scenario->clients[i].loop)
			return false;
	return true;
}

/* The first of three seconds in which nine in ten are served. */
#define BACK_FOR   (3 * NS_PER_S)
#define BACK_SHARE 0.9

static double recovery_of(const struct sim_tally *tally, const struct sim_scenario *scenario)
{
	int64_t end = sim_outages_end(scenario), needed = greater(BACK_FOR / scenario->step, 1);
	int64_t good = 0;

	if (end < 0 || end >= scenario->duration)
		return -1;
	if (is_looping(scenario)) /* those that are given up are of processes that ended */
		return tally->served + tally->given_up < tally->requests
		           ? -1
		           : (double)(greater(tally->last_served, end) - end) / NS_PER_S;
	for (int64_t i = (end + scenario->step - 1) / scenario->step; i < tally->step_count; i++) {
		const struct sim_step *step = &tally->steps[i];

		good = step->served >= BACK_SHARE * step->requests ? good + 1 : 0;
		if (good == needed)
			return (double)greater((i + 1 - needed) * scenario->step - end, 0) /
			       NS_PER_S;
	}
	return -1;
}

void sim_tally_sum_up(const struct sim_tally *tally, const struct sim_scenario *scenario,
                      struct sim_result *result)
{
	double *metric = result->metric;
	double requests = (double)tally->requests;

	metric[SIM_REQUESTS] = requests;
	metric[SIM_SERVED] = requests > 0 ? (double)tally->served / requests : -1;
	metric[SIM_GOODPUT] =
	    (double)tally->served / ((double)scenario->duration / (double)NS_PER_S);
	metric[SIM_TRIES] = (double)tally->tries;
	metric[SIM_REFUSED] = (double)tally->refused;
	metric[SIM_ATTEMPTS] = (double)tally->reached;
	metric[SIM_ATTEMPTS_FAILING] = (double)tally->reached_failing;
	metric[SIM_AMPLIFICATION] = requests > 0 ? (double)tally->reached / requests : -1;
	metric[SIM_PEAK] = peak_of(tally, scenario, 0, all_of);
	metric[SIM_PEAK_AFTER] =
	    peak_of(tally, scenario, greater(sim_outages_end(scenario), 0), all_of);
	metric[SIM_RETRY_PEAK] = peak_of(tally, scenario, 0, retries_of);
	metric[SIM_RECOVERY] = recovery_of(tally, scenario);
	metric[SIM_P50] = quantile(tally, 0.5);
	metric[SIM_P99] = quantile(tally, 0.99);
	metric[SIM_LAST] = (double)tally->last_served / (double)NS_PER_S;
}
