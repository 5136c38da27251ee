/* SPDX-License-Identifier: MIT */
/* The scenario's variants, played and printed. */
#include "tool/sim_play.h"

#include "tool/sim_json.h"
#include "tool/sim_plot.h"
#include "tool/sim_plot_region.h"
#include "tool/sim_plot_sweep.h"
#include "tool/tool.h"

#include <stdlib.h>
#include <string.h>

bool sim_question_set(struct sim_question *question, const char *text, FILE *err)
{
	const char *sign = strchr(text, '=');
	char name[SIM_NAME * 2], message[128];
	struct text why;

	text_start(&why, message, sizeof(message));
	if (!sign || sign == text || (size_t)(sign - text) >= sizeof(name)) {
		fprintf(err,
		        "retrybudget: simulate: '%s' is no KEY=VALUE, as in floor=1/s or "
		        "clients.rate=500/s\n",
		        text);
		return false;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(sign - text), text);
	if (sim_settings_put(&question->settings, name, sign + 1, &why))
		return true;
	fprintf(err, "retrybudget: simulate: '%s': %s\n", text, message);
	return false;
}

/* A file without variants is played bare and under the library. */
static void add_variants(struct sim_file *file)
{
	struct text none;
	char unused[8];

	if (file->variant_count > 0)
		return;
	text_start(&none, unused, sizeof(unused));
	file->variant_count = 2;
	strcpy(file->variants[0].name, "bare");
	strcpy(file->variants[1].name, "library");
	(void)sim_settings_put(&file->variants[0].settings, "clients.library", "off", &none);
	(void)sim_settings_put(&file->variants[0].settings, "server.library", "off", &none);
}

bool sim_question_sweep(struct sim_question *question, const char *text, FILE *err)
{
	if (question->sweep_count < SIM_SWEEPS)
		return sim_sweep_read(&question->sweeps[question->sweep_count++], text, err);
	fputs("retrybudget: simulate: at most three sweeps; leave some out\n", err);
	return false;
}

/* Cells: each variant with each combination of what is swept. */
static int cell_count(const struct sim_question *question, const struct sim_file *file)
{
	int count = file->variant_count;

	for (int i = 0; i < question->sweep_count; i++)
		count *= question->sweeps[i].count;
	return count;
}

#define CELLS_MAX 8192

/* " KEY=VALUE" before what is swept after it. */
static void put_before(char swept[SIM_NAME], const char *name, const char *value)
{
	const char *key = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
	char after[SIM_NAME];

	memcpy(after, swept, sizeof(after));
	snprintf(swept, SIM_NAME, " %.12s=%.12s%.30s", key, value, after);
}

static bool make_cell(struct sim_cell *cell, int place, const struct sim_question *question,
                      const struct sim_file *file, FILE *err)
{
	static struct sim_settings more;
	char swept[SIM_NAME] = "", others[SIM_NAME] = "", unused[128];
	struct text why;

	text_start(&why, unused, sizeof(unused));
	more = question->settings;
	for (int i = question->sweep_count - 1; i >= 0; i--) {
		const struct sim_sweep *sweep = &question->sweeps[i];
		const char *value = sweep->values[place % sweep->count];

		put_before(swept, sweep->name, value);
		if (i > 0)
			put_before(others, sweep->name, value);
		place /= sweep->count;
		if (!sim_settings_put(&more, sweep->name, value, &why)) {
			fprintf(err, "retrybudget: simulate: %s: %s\n", sweep->name, unused);
			return false;
		}
	}
	if (!sim_cell_make(cell, file, &file->variants[place], &more, question->config,
	                   question->label, err))
		return false;
	snprintf(cell->name, sizeof(cell->name), "%.63s%s", file->variants[place].name, swept);
	snprintf(cell->line, sizeof(cell->line), "%.63s%s", file->variants[place].name, others);
	cell->keeps_steps = question->sweep_count == 0;
	return true;
}

static bool is_void(const struct sim_cell *cells, int count, FILE *err)
{
	for (int i = 0; i < count; i++)
		if (cells[i].result.is_void) {
			fputs("retrybudget: simulate: out of memory; make the scenario smaller\n",
			      err);
			return true;
		}
	return false;
}

/* What the file expects is of the file alone. */
static bool is_as_written(const struct sim_question *question)
{
	return question->settings.count == 0 && question->sweep_count == 0 && !question->config;
}

static bool plot(const struct sim_question *question, const struct sim_file *file,
                 const struct sim_cell *cells, int count, FILE *err)
{
	const struct sim_sweep *first = &question->sweeps[0];

	if (question->sweep_count == 0)
		return sim_plot(cells, count, question->plot, err);
	return sim_plot_sweep(cells, count, first, count / file->variant_count / first->count,
	                      question->plot, err);
}

static int print(const struct sim_question *question, const struct sim_file *file,
                 const struct sim_cell *cells, int count, FILE *out, FILE *err)
{
	int missed = 0;

	if (question->json) {
		if (!sim_print_json(cells, count, out))
			return 1;
	} else {
		if (file->about[0])
			fprintf(out, "%s\n", file->about);
		sim_print_table(cells, count, out);
		sim_print_servers(cells, count, out);
		sim_print_bounds(cells, count, out);
		if (question->steps)
			sim_print_steps(cells, count, out);
		if (is_as_written(question))
			missed = sim_print_expectations(file, cells, count, out);
	}
	if (fflush(out) || (question->plot && !plot(question, file, cells, count, err)))
		return 1;
	return missed > 0 ? 1 : 0;
}

static int play(const struct sim_question *question, const struct sim_file *file,
                struct sim_cell *cells, int count, FILE *out, FILE *err)
{
	int result = 1;

	for (int i = 0; i < count; i++)
		if (!make_cell(&cells[i], i, question, file, err))
			return EXIT_USAGE;
	sim_cells_play(cells, count, question->threads);
	if (!is_void(cells, count, err))
		result = print(question, file, cells, count, out, err);
	for (int i = 0; i < count; i++)
		sim_tally_free(&cells[i].tally);
	return result;
}

static int play_region(const struct sim_question *question, const struct sim_file *file, FILE *out,
                       FILE *err)
{
	static struct sim_region regions[SIM_VARIANTS];
	const char *names[SIM_VARIANTS];

	for (int i = 0; i < file->variant_count; i++) {
		names[i] = file->variants[i].name;
		if (!sim_region_play(&regions[i], file, &file->variants[i], &question->settings,
		                     question->config, question->label, question->threads, err))
			return EXIT_USAGE;
		sim_region_print(&regions[i], names[i], out);
	}
	return fflush(out) ||
	               (question->plot &&
	                !sim_plot_regions(regions, names, file->variant_count, question->plot, err))
	           ? 1
	           : 0;
}

static int answer(const struct sim_question *question, const struct sim_file *file, FILE *out,
                  FILE *err)
{
	int count = cell_count(question, file), result = 1;
	struct sim_cell *cells;

	if (question->region && (question->sweep_count || question->json || question->steps)) {
		fputs(
		    "retrybudget: simulate: --region prints maps alone; leave --sweep, --json and "
		    "--steps out\n",
		    err);
		return EXIT_USAGE;
	}
	if (question->region)
		return play_region(question, file, out, err);
	if (count > CELLS_MAX) {
		fputs("retrybudget: simulate: more than 8192 combinations; sweep less\n", err);
		return EXIT_USAGE;
	}
	cells = calloc((size_t)count, sizeof(*cells));
	if (cells)
		result = play(question, file, cells, count, out, err);
	free(cells);
	return result;
}

int sim_answer(const struct sim_question *question, FILE *out, FILE *err)
{
	struct sim_file *file;
	int result = 1;

	if (question->keys) {
		sim_print_keys(false, out);
		fputs("\nWhat is printed:\n", out);
		sim_print_metrics(out);
		return fflush(out) ? 1 : 0;
	}
	file = malloc(sizeof(*file));
	if (file && sim_file_read(file, question->scenario, err)) {
		add_variants(file);
		result = answer(question, file, out, err);
	}
	free(file);
	return result;
}
