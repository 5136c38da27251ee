/* SPDX-License-Identifier: MIT */
/* Plots of load and goodput over time, and maps of regions, drawn by gnuplot: SVG, PNG or text, as
 * the file is named. */
#include "tool/sim_plot.h"

#include <errno.h>
#include <string.h>

static const char *terminal_of(const char *path)
{
	const char *dot = strrchr(path, '.');

	if (dot && strcmp(dot, ".png") == 0)
		return "pngcairo size 1000,%d";
	if (dot && strcmp(dot, ".txt") == 0)
		return "dumb size 100,%d";
	return "svg size 1000,%d background 'white'";
}

static bool is_plain(const char *path)
{
	return !strpbrk(path, "'\"\\\n`$");
}

static void write_data(const struct sim_cell *cell, int place, FILE *to)
{
	double per_s = (double)NS_PER_S / (double)cell->scenario.step;

	fprintf(to, "$d%d << EOD\n", place);
	for (int i = 0; i < cell->tally.step_count; i++)
		fprintf(to, "%g %g %g %g\n", i / per_s, cell->tally.steps[i].requests * per_s,
		        cell->tally.steps[i].served * per_s, cell->tally.steps[i].reached * per_s);
	fputs("EOD\n", to);
}

/* A panel below the other. */
static void write_layout(int count, const char *path, FILE *to)
{
	const char *terminal = terminal_of(path);
	int height = *terminal == 'd' ? 24 * count : 260 * count;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fputs("set terminal ", to);
	fprintf(to, terminal, height);
#pragma GCC diagnostic pop
	fprintf(to, "\nset output '%s'\nset multiplot layout %d,1\n", path, count);
}

void sim_plot_script(const struct sim_cell *cells, int count, const char *path, FILE *to)
{
	write_layout(count, path, to);
	fputs("set logscale y\nset yrange [1:*]\nset ylabel '/s'\nset key outside\n", to);
	for (int i = 0; i < count; i++) {
		write_data(&cells[i], i, to);
		fprintf(to,
		        "set title \"%s\" noenhanced\nplot $d%d using 1:2 with lines title "
		        "'asked', $d%d using 1:3 with lines title 'served', $d%d using 1:4 with "
		        "lines title 'attempts'\n",
		        cells[i].name, i, i, i);
	}
	fputs("unset multiplot\n", to);
}

/* Beyond the seconds that are drawn: it never comes back. */
#define NEVER (SIM_REGION_WATCHED + 2)

void sim_plot_region_script(const struct sim_region *regions, const char *const *names, int count,
                            const char *path, FILE *to)
{
	write_layout(count, path, to);
	fprintf(to,
	        "unset key\nset palette defined (0 '#1b9e77', 20 '#e6ab02', %d '#d95f02', "
	        "%d '#4a1010', %d '#4a1010')\nset cbrange [0:%d]\n"
	        "set cblabel 's until back'\nset xrange [-0.5:%d.5]\nset yrange [47.5:102.5]\n"
	        "set xlabel 'length of the outage (dark: it never comes back)'\n"
	        "set ylabel 'load'\nset format y '%%g%%%%'\nset xtics (",
	        NEVER - 2, NEVER - 1, NEVER, NEVER, SIM_LENGTHS - 1);
	for (int i = 0; i < SIM_LENGTHS; i++)
		fprintf(to, "%s'%ds' %d", i ? ", " : "", (int)(regions->lengths[i] / NS_PER_S), i);
	fputs(")\n", to);
	for (int i = 0; i < count; i++) {
		fprintf(to, "$r%d << EOD\n", i);
		for (int at = 0; at < SIM_LOADS * SIM_LENGTHS; at++) {
			double back = regions[i].recovery[at / SIM_LENGTHS][at % SIM_LENGTHS];

			fprintf(to, "%d %g %g\n", at % SIM_LENGTHS,
			        regions[i].loads[at / SIM_LENGTHS] * 100, back < 0 ? NEVER : back);
		}
		fprintf(to, "EOD\nset title \"%s\" noenhanced\nplot $r%d using 1:2:3 with image\n",
		        names[i], i);
	}
	fputs("unset multiplot\n", to);
}

/* A pipe to gnuplot; NULL: told to err. */
static FILE *start(const char *path, FILE *err)
{
	FILE *to = NULL;

	if (!is_plain(path))
		fprintf(err, "retrybudget: simulate: no quotes in the name of a plot; rename it\n");
	else if (!(to = popen("gnuplot", "we")))
		fprintf(err, "retrybudget: simulate: gnuplot cannot be started: %s\n",
		        strerror(errno));
	return to;
}

static bool finish(FILE *to, const char *path, FILE *err)
{
	if (pclose(to) == 0)
		return true;
	fprintf(err, "retrybudget: simulate: gnuplot did not draw %s; is it installed?\n", path);
	return false;
}

bool sim_plot(const struct sim_cell *cells, int count, const char *path, FILE *err)
{
	FILE *to = start(path, err);

	if (!to)
		return false;
	sim_plot_script(cells, count, path, to);
	return finish(to, path, err);
}

bool sim_plot_regions(const struct sim_region *regions, const char *const *names, int count,
                      const char *path, FILE *err)
{
	FILE *to = start(path, err);

	if (!to)
		return false;
	sim_plot_region_script(regions, names, count, path, to);
	return finish(to, path, err);
}
