/* SPDX-License-Identifier: MIT */
/* Cells: made, and dealt out to threads one by one. */
#include "tool/sim_cells.h"

#include "tool/sim_fits.h"
#include "tool/sim_fleet.h"
#include "tool/sim_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS_MAX 64

static bool add_settings(struct sim_settings *to, const struct sim_settings *from, struct text *why)
{
	for (int i = 0; from && i < from->count; i++) {
		to->path = from->all[i].path;
		to->line = from->all[i].line;
		if (!sim_settings_put(to, from->all[i].name, from->all[i].value, why))
			return false;
	}
	return true;
}

/* Told at the line that says it; a setting stands over what [fleet] says. */
static void tell_no_fleet(const struct sim_cell *cell, const struct sim_file *file,
                          const struct sim_settings *all, FILE *err)
{
	const struct sim_setting *floor = sim_settings_find(all, "fleet.floor");
	const struct sim_setting *reserve = sim_settings_find(all, "policy.fleet_reserve");
	const struct sim_setting *where = floor ? floor : reserve;

	if (where && where->path)
		fprintf(err, "%s:%d: ", where->path, where->line);
	else if (!where && file->fleet_line)
		fprintf(err, "%s:%d: ", file->path, file->fleet_line);
	else
		fputs("retrybudget: simulate: ", err);
	fprintf(err,
	        "fleet_reserve of the policy (%g/s) is a part of floor in [fleet] (%g/s), "
	        "which is less; lower the one or raise the other\n",
	        (double)cell->policy.policy.fleet_reserve / FLEET_TOKEN,
	        (double)cell->scenario.fleet.floor / FLEET_TOKEN);
}

/* All settings in one list: a later one replaces an earlier one of its name. */
static bool gather(struct sim_settings *all, struct sim_scenario *scenario,
                   const struct sim_file *file, const struct sim_settings *variant,
                   const struct sim_settings *more, struct text *why)
{
	int line;

	*all = file->settings;
	*scenario = file->scenario;
	if (!add_settings(all, variant, why) || !add_settings(all, more, why) ||
	    sim_settings_apply(all, scenario, why))
		return false;
	why->used = 0;
	return sim_scenario_fits(scenario, &line, why);
}

bool sim_cell_make(struct sim_cell *cell, const struct sim_file *file,
                   const struct sim_variant *variant, const struct sim_settings *more,
                   const char *config, const char *label, FILE *err)
{
	static _Thread_local struct sim_settings all;
	char message[256];
	struct text why;

	memset(cell, 0, sizeof(*cell));
	snprintf(cell->name, sizeof(cell->name), "%s", variant ? variant->name : "");
	text_start(&why, message, sizeof(message));
	if (!gather(&all, &cell->scenario, file, variant ? &variant->settings : NULL, more, &why)) {
		fprintf(err, "retrybudget: simulate: %s\n", message);
		return false;
	}
	if (!sim_policy_read(&cell->policy, config, label, &all, err))
		return false;
	if (!sim_fleet_fits(&cell->scenario, &cell->policy)) {
		tell_no_fleet(cell, file, &all, err);
		return false;
	}
	return true;
}

static void play(struct sim_cell *cell)
{
	cell->result.is_void = !sim_run(&cell->scenario, &cell->policy, &cell->tally);
	if (!cell->result.is_void)
		sim_tally_sum_up(&cell->tally, &cell->scenario, &cell->result);
	if (!cell->keeps_steps)
		sim_tally_free(&cell->tally);
}

struct work {
	struct sim_cell *cells;
	int count;
	atomic_int next;
};

static void *worker(void *arg)
{
	struct work *work = arg;

	for (int i; (i = atomic_fetch_add(&work->next, 1)) < work->count;)
		play(&work->cells[i]);
	return NULL;
}

void sim_cells_play(struct sim_cell *cells, int count, int threads)
{
	struct work work = { .cells = cells, .count = count };
	pthread_t others[THREADS_MAX];
	int started = 0;

	if (threads < 1)
		threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
	threads = threads > count ? count : threads;
	threads = threads > THREADS_MAX ? THREADS_MAX : threads;
	while (started < threads - 1 && pthread_create(&others[started], NULL, worker, &work) == 0)
		started++;
	(void)worker(&work);
	while (started > 0)
		pthread_join(others[--started], NULL);
}

bool sim_play(const struct sim_scenario *scenario, const struct sim_policy *policy,
              struct sim_result *result)
{
	struct sim_tally *tally = calloc(1, sizeof(*tally));

	result->is_void = !tally || !sim_run(scenario, policy, tally);
	if (!result->is_void)
		sim_tally_sum_up(tally, scenario, result);
	if (tally)
		sim_tally_free(tally);
	free(tally);
	return !result->is_void;
}
