/* SPDX-License-Identifier: MIT */
/* The grid of a region, played as cells. */
#include "tool/sim_region.h"

#include <stdlib.h>
#include <string.h>

static const int seconds[SIM_LENGTHS] = { 1, 2, 5, 10, 20, 30, 60, 120 };

static bool suits(const struct sim_scenario *scenario, FILE *err)
{
	if (scenario->servers[0].capacity > 0 && scenario->outage_count > 0 &&
	    !scenario->clients[0].loop)
		return true;
	fputs("retrybudget: simulate: --region needs clients with requests (loop = off), a server "
	      "with a capacity, and an outage; add what is missing\n",
	      err);
	return false;
}

/* Sets load and length. The load of all clients keeps its parts. */
static void place(struct sim_scenario *scenario, double load, int64_t length)
{
	double all = 0, wanted = load * (double)scenario->servers[0].capacity;

	for (int i = 0; i < scenario->clients_count; i++)
		all += (double)scenario->clients[i].rate;
	for (int i = 0; i < scenario->clients_count && all > 0; i++)
		scenario->clients[i].rate =
		    (int64_t)((double)scenario->clients[i].rate * wanted / all);
	scenario->outage_count = 1;
	scenario->outages[0].until = scenario->outages[0].from + length;
	scenario->duration = scenario->outages[0].until + SIM_REGION_WATCHED * NS_PER_S;
}

static bool play(struct sim_region *region, struct sim_cell *cells, const struct sim_cell *first,
                 int threads, FILE *err)
{
	for (int i = 0; i < SIM_LOADS * SIM_LENGTHS; i++) {
		cells[i] = *first;
		place(&cells[i].scenario, region->loads[i / SIM_LENGTHS],
		      region->lengths[i % SIM_LENGTHS]);
	}
	sim_cells_play(cells, SIM_LOADS * SIM_LENGTHS, threads);
	for (int i = 0; i < SIM_LOADS * SIM_LENGTHS; i++) {
		if (cells[i].result.is_void) {
			fputs("retrybudget: simulate: out of memory; make the scenario smaller\n",
			      err);
			return false;
		}
		region->recovery[i / SIM_LENGTHS][i % SIM_LENGTHS] =
		    cells[i].result.metric[SIM_RECOVERY];
	}
	return true;
}

bool sim_region_play(struct sim_region *region, const struct sim_file *file,
                     const struct sim_variant *variant, const struct sim_settings *more,
                     const char *config, const char *label, int threads, FILE *err)
{
	struct sim_cell *cells = calloc(SIM_LOADS * SIM_LENGTHS + 1, sizeof(*cells));
	struct sim_cell *first = &cells[SIM_LOADS * SIM_LENGTHS];
	bool good;

	for (int i = 0; i < SIM_LOADS; i++)
		region->loads[i] = 0.5 + 0.05 * i;
	for (int i = 0; i < SIM_LENGTHS; i++)
		region->lengths[i] = seconds[i] * NS_PER_S;
	good = cells && sim_cell_make(first, file, variant, more, config, label, err) &&
	       suits(&first->scenario, err) && play(region, cells, first, threads, err);
	free(cells);
	return good;
}

void sim_region_print(const struct sim_region *region, const char *name, FILE *out)
{
	fprintf(out, "%s: seconds until it is back, X = not within %d\n    outage", name,
	        SIM_REGION_WATCHED);
	for (int i = 0; i < SIM_LENGTHS; i++)
		fprintf(out, " %4ds", (int)(region->lengths[i] / NS_PER_S));
	for (int load = SIM_LOADS - 1; load >= 0; load--) {
		fprintf(out, "\nload %3.0f %%", region->loads[load] * 100);
		for (int i = 0; i < SIM_LENGTHS; i++) {
			double recovery = region->recovery[load][i];

			if (recovery < 0)
				fprintf(out, "%6s", "X");
			else
				fprintf(out, "%6.0f", recovery);
		}
	}
	fputc('\n', out);
}
