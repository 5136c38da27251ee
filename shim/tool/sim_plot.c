/* SPDX-License-Identifier: MIT */
/* Plots of load and goodput over time, drawn by gnuplot: SVG, PNG or text, as the file is named. */
#include "tool/sim_plot.h"

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

void sim_plot_script(const struct sim_cell *cells, int count, const char *path, FILE *to)
{
	const char *terminal = terminal_of(path);
	int height = *terminal == 'd' ? 24 * count : 260 * count;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	fputs("set terminal ", to);
	fprintf(to, terminal, height);
#pragma GCC diagnostic pop
	fprintf(to,
	        "\nset output '%s'\nset multiplot layout %d,1\nset logscale y\n"
	        "set yrange [1:*]\nset ylabel '/s'\nset key outside\n",
	        path, count);
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

bool sim_plot(const struct sim_cell *cells, int count, const char *path, FILE *err)
{
	FILE *to;

	if (!is_plain(path)) {
		fprintf(err, "retrybudget: simulate: no quotes in the name of a plot; rename it\n");
		return false;
	}
	to = popen("gnuplot", "we");
	if (to)
		sim_plot_script(cells, count, path, to);
	if (to && pclose(to) == 0)
		return true;
	fprintf(err, "retrybudget: simulate: gnuplot did not draw %s; is it installed?\n", path);
	return false;
}
