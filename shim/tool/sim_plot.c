/* SPDX-License-Identifier: MIT */
/* Plots over time: of each cell what was asked, served and tried, and how much more was tried than
 * asked, with the outages and the way back. */
#include "tool/sim_plot.h"

#include "tool/sim_gnuplot.h"

static void write_data(const struct sim_cell *cell, int place, FILE *to)
{
	double per_s = (double)NS_PER_S / (double)cell->scenario.step;
	double asked = 0, tried = 0;

	fprintf(to, "$d%d << EOD\n", place);
	for (int i = 0; i < cell->tally.step_count; i++) {
		const struct sim_step *step = &cell->tally.steps[i];

		asked += step->requests;
		tried += step->reached;
		fprintf(to, "%g %g %g %g ", i / per_s, step->requests * per_s, step->served * per_s,
		        step->reached * per_s);
		if (step->requests > 0)
			fprintf(to, "%g ", (double)step->reached / step->requests);
		else
			fputs("NaN ", to); /* and the line has a gap */
		fprintf(to, "%g\n", asked > 0 ? tried / asked : 0);
	}
	fputs("EOD\n", to);
}

static double seconds_of(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

/* The outages are shaded, and the moment of the return is dashed. */
static void write_marks(const struct sim_cell *cell, FILE *to)
{
	const struct sim_scenario *scenario = &cell->scenario;
	double back = cell->result.metric[SIM_RECOVERY];

	fputs("unset object\nunset arrow\n", to);
	for (int i = 0; i < scenario->outage_count; i++) {
		const struct sim_outage *outage = &scenario->outages[i];
		double from = seconds_of(outage->from);
		double until = seconds_of(lesser(outage->until, scenario->duration));

		if (from >= until)
			continue;
		fprintf(to,
		        "set object rectangle from %g, graph 0 to %g, graph 1 behind fillstyle "
		        "solid noborder fillcolor rgb '#f4d9d9'\n",
		        from, until);
		/* What is text has no shades. */
		fprintf(to,
		        "set arrow from %g, graph 0 to %g, graph 1 nohead linecolor rgb "
		        "'#f4d9d9'\nset arrow from %g, graph 0 to %g, graph 1 nohead linecolor "
		        "rgb '#f4d9d9'\n",
		        from, from, until, until);
	}
	if (back >= 0)
		fprintf(to,
		        "set arrow from %g, graph 0 to %g, graph 1 nohead dashtype 2 linewidth 2 "
		        "linecolor rgb '#1b9e77'\n",
		        seconds_of(sim_outages_end(scenario)) + back,
		        seconds_of(sim_outages_end(scenario)) + back);
}

static void write_title(const struct sim_cell *cell, FILE *to)
{
	int64_t end = sim_outages_end(&cell->scenario);
	double back = cell->result.metric[SIM_RECOVERY];
	char more[64] = "";

	if (back >= 0)
		snprintf(more, sizeof(more), ": back %.1f s after the outage", back);
	else if (end >= 0 && end < cell->scenario.duration)
		snprintf(more, sizeof(more), ": never back");
	sim_gnuplot_title(cell->name, more, to);
}

static void write_panels(const struct sim_cell *cell, int place, FILE *to)
{
	write_data(cell, place, to);
	write_marks(cell, to);
	write_title(cell, to);
	fprintf(to,
	        "set xrange [0:%g]\nset logscale y\nset yrange [1:10<*]\nset ylabel '/s'\n"
	        "plot $d%d using 1:(drawn($2)) with lines title 'asked', "
	        "$d%d using 1:(drawn($3)) with lines title 'served', "
	        "$d%d using 1:(drawn($4)) with lines title 'attempts'\n",
	        seconds_of(cell->scenario.duration), place, place, place);
	fprintf(to,
	        "unset title\nunset logscale y\nset yrange [0:%s]\n"
	        "set ylabel 'attempts / asked'\nset xlabel 's'\n"
	        "plot $d%d using 1:5 with linespoints pointtype 7 pointsize 0.3 title "
	        "'in a step', $d%d using 1:6 with lines title 'so far'\nunset xlabel\n",
	        cell->tally.reached > 0 ? "2<*" : "2", place, place);
}

void sim_plot_script(const struct sim_cell *cells, int count, const char *path, FILE *to)
{
	sim_gnuplot_layout(2 * count, path, to);
	fputs("set key outside\nset lmargin at screen 0.12\nset rmargin at screen 0.78\n"
	      "drawn(x) = x > 1 ? x : 1\n", /* what is less lies on the frame */
	      to);
	for (int i = 0; i < count; i++)
		write_panels(&cells[i], i, to);
	fputs("unset multiplot\n", to);
}

bool sim_plot(const struct sim_cell *cells, int count, const char *path, FILE *err)
{
	FILE *to = sim_gnuplot_start(path, err);

	if (!to)
		return false;
	sim_plot_script(cells, count, path, to);
	return sim_gnuplot_finish(to, path, err);
}
