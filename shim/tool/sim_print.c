/* SPDX-License-Identifier: MIT */
/* Tables of what came out. */
#include "tool/sim_print.h"

#include "tool/sim_fleet.h"

#include <math.h>
#include <string.h>

static int widest_name(const struct sim_cell *cells, int count)
{
	int widest = 0;

	for (int i = 0; i < count; i++)
		if ((int)strlen(cells[i].name) > widest)
			widest = (int)strlen(cells[i].name);
	return widest;
}

/* A number as its metric is written; "never" for what did not come about. */
static void write_number(char *text, size_t size, const struct sim_result *result, int metric)
{
	double value = result->metric[metric];

	if (value < 0)
		snprintf(text, size, "%s", metric == SIM_RECOVERY ? "never" : "-");
	else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(text, size, sim_metric_form(metric), value);
#pragma GCC diagnostic pop
}

static int width_of(const struct sim_cell *cells, int count, int metric)
{
	int widest = (int)strlen(sim_metric_name(metric));
	char text[32];

	for (int i = 0; i < count; i++) {
		write_number(text, sizeof(text), &cells[i].result, metric);
		if ((int)strlen(text) > widest)
			widest = (int)strlen(text);
	}
	return widest;
}

void sim_print_table(const struct sim_cell *cells, int count, FILE *out)
{
	int name = widest_name(cells, count), width[SIM_METRICS];
	char text[32];

	fprintf(out, "%*s", name, "");
	for (int metric = 0; metric < SIM_METRICS; metric++) {
		width[metric] = width_of(cells, count, metric);
		fprintf(out, "  %*s", width[metric], sim_metric_name(metric));
	}
	fputc('\n', out);
	for (int i = 0; i < count; i++) {
		fprintf(out, "%-*s", name, cells[i].name);
		for (int metric = 0; metric < SIM_METRICS; metric++) {
			write_number(text, sizeof(text), &cells[i].result, metric);
			fprintf(out, "  %*s", width[metric], text);
		}
		fputc('\n', out);
	}
}

void sim_print_servers(const struct sim_cell *cells, int count, FILE *out)
{
	int name = widest_name(cells, count);

	for (int i = 0; i < count; i++) {
		const struct sim_scenario *scenario = &cells[i].scenario;

		if (scenario->server_count < 2 || cells[i].tally.requests == 0)
			continue;
		fprintf(out, "%-*s ", name, cells[i].name);
		for (int server = 0; server < scenario->server_count; server++)
			fprintf(out, " %s %.2f", scenario->servers[server].name,
			        (double)cells[i].tally.reached_each[server] /
			            (double)cells[i].tally.requests);
		fputs(" tries for each request\n", out);
	}
}

void sim_print_bounds(const struct sim_cell *cells, int count, FILE *out)
{
	int name = widest_name(cells, count);

	for (int i = 0; i < count; i++) {
		struct fleet_rule rule;

		if (!cells[i].policy.policy.leased)
			continue;
		sim_fleet_rule(&cells[i].scenario, &cells[i].policy, &rule);
		fprintf(out, "%-*s  bound of the fleet: %g retries in any second; %g at most\n",
		        name, cells[i].name, (double)fleet_bound(&rule, 1000) / FLEET_TOKEN,
		        cells[i].result.metric[SIM_RETRY_PEAK]);
	}
}

void sim_print_steps(const struct sim_cell *cells, int count, FILE *out)
{
	for (int i = 0; i < count; i++) {
		const struct sim_tally *tally = &cells[i].tally;

		fprintf(out, "# %s\n# s requests served attempts refused\n", cells[i].name);
		for (int step = 0; step < tally->step_count; step++)
			fprintf(out, "%g %u %u %u %u\n",
			        (double)(step * cells[i].scenario.step) / (double)NS_PER_S,
			        tally->steps[step].requests, tally->steps[step].served,
			        tally->steps[step].reached, tally->steps[step].refused);
	}
}

static const struct sim_cell *cell_named(const struct sim_cell *cells, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (strcmp(cells[i].name, name) == 0)
			return &cells[i];
	return NULL;
}

static bool is_met(const struct sim_expectation *one, double value)
{
	if (one->kind == '<') /* of what never came: nothing is less, but 'never' */
		return one->value <= 0 ? value < 0 : value >= 0 && value < one->value;
	if (one->kind == '>')
		return value > one->value;
	return fabs(value - one->value) <= one->tolerance * fabs(one->value) + 1e-9;
}

int sim_print_expectations(const struct sim_file *file, const struct sim_cell *cells, int count,
                           FILE *out)
{
	int missed = 0;

	for (int i = 0; i < file->expectation_count; i++) {
		const struct sim_expectation *one = &file->expectations[i];
		const struct sim_cell *cell = cell_named(cells, count, one->variant);
		enum sim_metric metric = sim_metric_named(one->metric);
		double value;
		bool met;

		if (!cell || metric == SIM_METRICS) /* sim_file_read() has told it */
			continue;
		value = cell->result.metric[metric];
		met = is_met(one, value);
		missed += !met;
		fprintf(out, "%s: %s: ", one->variant, one->metric);
		if (value < 0)
			fputs("never", out);
		else
			fprintf(out, "%g", value);
		if (one->kind == '<' && one->value <= 0)
			fputs(", expected never", out);
		else if (one->kind != '=')
			fprintf(out, ", expected %c %g", one->kind, one->value);
		else
			fprintf(out, ", expected %g within %g %%, off by %.1f %%", one->value,
			        one->tolerance * 100,
			        one->value == 0 ? 0 : (value / one->value - 1) * 100);
		fputs(met ? "\n" : ": MISSED\n", out);
	}
	return missed;
}

void sim_print_metrics(FILE *out)
{
	for (int metric = 0; metric < SIM_METRICS; metric++)
		fprintf(out, "%-10s %s\n", sim_metric_name(metric), sim_metric_help(metric));
}
