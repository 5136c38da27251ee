/* SPDX-License-Identifier: MIT */
/* Plots of sweeps: what the first of them changes, from left to right; a line for each variant with
 * each combination of the others. */
#include "tool/sim_plot_sweep.h"

#include "tool/sim_gnuplot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct axis {
	const struct sim_sweep *sweep;
	const char *unit;
	bool counts; /* all values are numbers of one unit; else they stand beside each other */
	bool by_factor;
	double at[SIM_SWEEP_VALUES];
};

struct drawing {
	const struct sim_cell *cells;
	struct axis axis;
	int lines, others; /* others: cells from one value of the axis to the next */
	FILE *to;
};

enum column {
	LOAD = 2, /* 1: where it is on the axis */
	PEAK,
	GOODPUT,
	AMPLIFICATION,
	RECOVERY,
	NEVER,
};

static void make_axis(struct axis *axis, const struct sim_sweep *sweep)
{
	double least = 0, most = 0;

	*axis = (struct axis) { .sweep = sweep, .unit = "", .counts = true };
	for (int i = 0; i < sweep->count; i++) {
		char *unit;

		axis->at[i] = strtod(sweep->values[i], &unit);
		if (i == 0)
			axis->unit = unit;
		axis->counts &= unit != sweep->values[i] && strcmp(unit, axis->unit) == 0;
		least = i == 0 || axis->at[i] < least ? axis->at[i] : least;
		most = i == 0 || axis->at[i] > most ? axis->at[i] : most;
	}
	axis->by_factor = axis->counts && least > 0 && most > 10 * least;
	for (int i = 0; i < sweep->count && !axis->counts; i++)
		axis->at[i] = i;
}

static const struct sim_cell *cell_of(const struct drawing *drawing, int line, int value)
{
	int variant = line / drawing->others, other = line % drawing->others;

	return &drawing->cells[(variant * drawing->axis.sweep->count + value) * drawing->others +
	                       other];
}

/* How long one was waited for that never came back; -1: it came, or there was nothing to come from.
 */
static double waited_for(const struct sim_cell *cell)
{
	int64_t end = sim_outages_end(&cell->scenario);

	return cell->result.metric[SIM_RECOVERY] >= 0 || end < 0 || end >= cell->scenario.duration
	           ? -1
	           : (double)(cell->scenario.duration - end) / NS_PER_S;
}

/* What a column holds of a cell; less than 0: nothing. */
static double value_of(const struct sim_cell *cell, enum column column)
{
	const double *metric = cell->result.metric;

	switch (column) {
	case LOAD:
		return metric[SIM_ATTEMPTS] / ((double)cell->scenario.duration / NS_PER_S);
	case PEAK:
		return metric[SIM_PEAK];
	case GOODPUT:
		return metric[SIM_GOODPUT];
	case AMPLIFICATION:
		return metric[SIM_AMPLIFICATION];
	case RECOVERY:
		return metric[SIM_RECOVERY];
	default:
		return waited_for(cell);
	}
}

struct range {
	double least, most; /* of what is above 0 */
	int count;          /* of all that is there */
};

static void widen(struct range *range, const struct drawing *drawing, int line, enum column column)
{
	for (int i = 0; i < drawing->axis.sweep->count; i++) {
		double value = value_of(cell_of(drawing, line, i), column);

		range->count += value >= 0;
		if (value <= 0)
			continue;
		range->least = range->most > 0 ? fmin(range->least, value) : value;
		range->most = fmax(range->most, value);
	}
}

static bool is_anything(const struct drawing *drawing, int line, enum column column)
{
	struct range range = { 0 };

	widen(&range, drawing, line, column);
	return range.count > 0;
}

static void write_data(const struct drawing *drawing, int line)
{
	fprintf(drawing->to, "$s%d << EOD\n", line);
	for (int i = 0; i < drawing->axis.sweep->count; i++) {
		fprintf(drawing->to, "%g", drawing->axis.at[i]);
		for (enum column column = LOAD; column <= NEVER; column++) {
			double value = value_of(cell_of(drawing, line, i), column);

			if (value >= 0)
				fprintf(drawing->to, " %g", value);
			else
				fputs(" NaN", drawing->to);
		}
		fputc('\n', drawing->to);
	}
	fputs("EOD\n", drawing->to);
}

static void write_axis(const struct axis *axis, FILE *to)
{
	char label[SIM_NAME + 32];
	const char *between = "set xtics (";

	snprintf(label, sizeof(label), *axis->unit && axis->counts ? "%s, %s" : "%s",
	         axis->sweep->name, axis->unit);
	fputs("set xlabel ", to);
	sim_gnuplot_quoted(label, to);
	fputs(" noenhanced\n", to);
	if (axis->by_factor)
		fputs("set logscale x\n", to);
	if (axis->counts)
		return;
	for (int i = 0; i < axis->sweep->count; i++, between = ", ") {
		fputs(between, to);
		sim_gnuplot_quoted(axis->sweep->values[i], to);
		fprintf(to, " %d", i);
	}
	fprintf(to, ")\nset xrange [-0.5:%d.5]\n", axis->sweep->count - 1);
}

#define COLOURS 8 /* that gnuplot has by itself */

static void write_line(const struct drawing *drawing, int line, enum column column,
                       const char *between, const char *how)
{
	fprintf(drawing->to, "%s$s%d using 1:%d with %s linecolor %d dashtype %d ", between, line,
	        (int)column, how, line % COLOURS + 1, line / COLOURS % 5 + 1);
}

/* Loads may be far apart. Of goodputs 0 counts, and of that there is no logarithm. */
static void write_scale(const struct drawing *drawing, enum column column,
                        const struct range *range)
{
	if (column != GOODPUT && column != RECOVERY && range->most > 50 * range->least)
		fputs("set logscale y\nset yrange [*:*]\n", drawing->to);
	else
		fprintf(drawing->to, "unset logscale y\nset yrange [0:%s]\n",
		        range->most > 0 ? "*" : "1");
}

/* Lines of one column; of those that never come back a cross for as long as they were watched. */
static void write_panel(const struct drawing *drawing, enum column column, const char *what)
{
	const char *between = "plot ";
	struct range range = { 0 };

	for (int line = 0; line < drawing->lines; line++) {
		widen(&range, drawing, line, column);
		if (column == RECOVERY)
			widen(&range, drawing, line, NEVER);
	}
	if (range.count == 0)
		return;
	fprintf(drawing->to, "set ylabel '%s'\n", what);
	write_scale(drawing, column, &range);
	for (int line = 0; line < drawing->lines; line++) {
		if (is_anything(drawing, line, column)) {
			write_line(drawing, line, column, between,
			           "linespoints pointtype 7 pointsize 0.5");
			fputs("title ", drawing->to);
			sim_gnuplot_quoted(cell_of(drawing, line, 0)->line, drawing->to);
			between = ", ";
		}
		if (column == RECOVERY && is_anything(drawing, line, NEVER)) {
			write_line(drawing, line, NEVER, between, "points pointtype 2");
			fputs("notitle", drawing->to);
			between = ", ";
		}
	}
	fputc('\n', drawing->to);
}

#define PANELS 5

void sim_plot_sweep_script(const struct sim_cell *cells, int count, const struct sim_sweep *sweep,
                           int others, const char *path, FILE *to)
{
	struct drawing drawing = {
		.cells = cells, .lines = count / sweep->count, .others = others, .to = to
	};

	make_axis(&drawing.axis, sweep);
	sim_gnuplot_layout(PANELS, path, to);
	fputs("set key outside noenhanced\nset lmargin at screen 0.12\n"
	      "set rmargin at screen 0.73\nset offsets 0, 0, graph 0.08, 0\n",
	      to);
	write_axis(&drawing.axis, to);
	for (int line = 0; line < drawing.lines; line++)
		write_data(&drawing, line);
	write_panel(&drawing, LOAD, "attempts/s");
	write_panel(&drawing, PEAK, "peak/s");
	write_panel(&drawing, GOODPUT, "answers/s");
	write_panel(&drawing, AMPLIFICATION, "amplification");
	write_panel(&drawing, RECOVERY, "recovery, s (x: never)");
	fputs("unset multiplot\n", to);
}

bool sim_plot_sweep(const struct sim_cell *cells, int count, const struct sim_sweep *sweep,
                    int others, const char *path, FILE *err)
{
	FILE *to = sim_gnuplot_start(path, err);

	if (!to)
		return false;
	sim_plot_sweep_script(cells, count, sweep, others, path, to);
	return sim_gnuplot_finish(to, path, err);
}
