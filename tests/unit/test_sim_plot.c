/* SPDX-License-Identifier: MIT */
/* What gnuplot is told of simulations. */
#include "config_fixture.h"
#include "tool/sim_gnuplot.h"
#include "tool/sim_plot.h"
#include "tool/sim_plot_region.h"
#include "tool/sim_plot_sweep.h"

TestSuite(sim_plot, .init = make_folder, .fini = remove_folder);

static struct sim_file file;
static struct sim_cell cells[12];
static char *script;
static size_t script_size;

static FILE *begin_script(void)
{
	FILE *to = open_memstream(&script, &script_size);

	cr_assert(to);
	return to;
}

/* What is told of one play of the text's scenario under that name. */
static const char *script_of(const char *text, const char *name)
{
	FILE *to = begin_script();

	write_bytes(text, strlen(text));
	cr_assert(sim_file_read(&file, path, stderr));
	cr_assert(sim_cell_make(&cells[0], &file, NULL, NULL, NULL, "default", stderr));
	snprintf(cells[0].name, sizeof(cells[0].name), "%s", name);
	cells[0].keeps_steps = true;
	sim_cells_play(cells, 1, 1);
	sim_plot_script(cells, 1, "it's.svg", to);
	fclose(to);
	sim_tally_free(&cells[0].tally);
	return script;
}

#define LEAST "[scenario]\nduration = 5s\n[clients]\n[server]\n"
#define NAME  "it's \"`touch here`\" $(x) \\"

/* gnuplot would run it. */
Test(sim_plot, a_name_is_no_command)
{
	struct sim_region region = { 0 };
	const char *name = NAME;
	FILE *to;

	cr_expect(strstr(script_of(LEAST, NAME),
	                 "set title 'it''s \"`touch here`\" $(x) \\' noenhanced\n"),
	          "%s", script);
	cr_expect(strstr(script, "set output 'it''s.svg'\n"), "%s", script);
	free(script);
	to = begin_script();
	sim_plot_region_script(&region, &name, 1, "one.svg", to);
	fclose(to);
	cr_expect(strstr(script, "set title 'it''s \"`touch here`\" $(x) \\' noenhanced\n"), "%s",
	          script);
	free(script);
}

#define DOWN                                                                                       \
	"[scenario]\nduration = 30s\n[clients]\nrate = 10/s\neven = on\ntries = 2\nlibrary = "     \
	"off\n"                                                                                    \
	"until = 25s\n[server]\n[outage a]\nfrom = 5s\nuntil = 10s\n[outage b]\nfrom = 60s\n"      \
	"until = 90s\n"

static bool says(const char *text)
{
	return strstr(script, text);
}

/* How much more was tried than asked; the outages, as far as they are played; the return. */
Test(sim_plot, amplification_outages_and_the_return_are_drawn)
{
	script_of(DOWN, "one");
	cr_expect(says("\n3 10 10 10 1 1\n"), "%s", script);
	cr_expect(says("\n7 10 0 20 2 1."), "of the step, and of all so far: %s", script);
	cr_expect(says("\n27 0 0 0 NaN 1."), "asked for by nobody: %s", script);
	cr_expect(says("using 1:5 with linespoints"));
	cr_expect(says("set object rectangle from 5, graph 0 to 10, graph 1 "), "%s", script);
	cr_expect_not(says("from 60"), "after the end");
	cr_expect(says("set title 'one'"), "an outage is not over at the end: %s", script);
	free(script);
	script_of("[scenario]\nduration = 30s\n[clients]\nrate = 10/s\neven = on\n[server]\n"
	          "[outage]\nfrom = 5s\nuntil = 10s\n",
	          "two");
	cr_expect(says("set title 'two: back 0.0 s after the outage'"), "%s", script);
	cr_expect(says("set arrow from 10, graph 0 to 10, graph 1 nohead dashtype 2"));
	free(script);
	script_of("[scenario]\nduration = 30s\n[clients]\nloop = on\ntimeout = 1s\n"
	          "library = off\n[server]\n[outage]\nfrom = 5s\nuntil = 10s\n"
	          "[outage more]\nfrom = 1s\nuntil = 29s\nlose = off\nhangs = 100%\n"
	          "[clients other]\nlimit = 0.001/s\nrate = 10/s\n",
	          "three");
	cr_expect(says("set title 'three: never back'"), "%s", script);
	cr_expect_not(says("dashtype 2"), "%s", script);
	free(script);
}

/* Two variants, three values of what is swept first, two of what is swept second: their loads are
 * their places. */
static const char *sweep_script_of(const char *sweep_text)
{
	struct sim_sweep sweep;
	FILE *to = begin_script();

	cr_assert(sim_sweep_read(&sweep, sweep_text, stderr));
	cr_assert_eq(sweep.count, 3);
	for (int i = 0; i < 12; i++) {
		cells[i] = (struct sim_cell) { .scenario = { .duration = 20 * NS_PER_S } };
		snprintf(cells[i].line, sizeof(cells[i].line), "%s y=%d", i < 6 ? "it's" : "b",
		         i % 2);
		cells[i].scenario.outage_count = 1;
		cells[i].scenario.outages[0].until = 5 * NS_PER_S;
		cells[i].result.metric[SIM_ATTEMPTS] = i * 20;
		cells[i].result.metric[SIM_RECOVERY] = i == 2 ? -1 : 1;
	}
	sim_plot_sweep_script(cells, 12, &sweep, 2, "one.svg", to);
	fclose(to);
	return script;
}

Test(sim_plot, what_is_swept_goes_from_left_to_right)
{
	sweep_script_of("floor=1,2,5");
	cr_expect(says("set xlabel 'floor, /s' noenhanced\n"), "%s", script);
	cr_expect(says("$s0 << EOD\n1 0 0 0 0 1 NaN\n2 2 0 0 0 NaN 15\n5 4 0 0 0 1 NaN\nEOD\n"),
	          "%s", script);
	cr_expect(says("$s1 << EOD\n1 1 0 0 0 1 NaN\n2 3 "), "%s", script);
	cr_expect(says("$s3 << EOD\n1 7 0 0 0 1 NaN\n2 9 "), "%s", script);
	cr_expect_not(says("$s4"));
	cr_expect(says("title 'it''s y=0'"));
	cr_expect(says("$s0 using 1:7 with points"), "of those that never come back");
	cr_expect_not(says("$s1 using 1:7"));
	cr_expect_not(says("logscale x"));
	free(script);
	sweep_script_of("floor=1,2,50");
	cr_expect(says("set logscale x\n"), "far apart: %s", script);
	free(script);
	sweep_script_of("strategy=bucket,window,adaptive");
	cr_expect(says("set xtics ('bucket' 0, 'window' 1, 'adaptive' 2)\n"), "%s", script);
	cr_expect(says("$s0 << EOD\n0 0 "), "%s", script);
	free(script);
	sweep_script_of("base=10ms,1s,100ms");
	cr_expect(says("set xtics ('10ms' 0, '1s' 1, '100ms' 2)\n"), "%s", script);
	free(script);
}

Test(sim_plot, a_picture_is_no_command)
{
	FILE *err = fmemopen(said, sizeof(said), "w");

	cr_expect_null(sim_gnuplot_start("|touch here", err));
	cr_expect_null(sim_gnuplot_start("a\nb.svg", err));
	fclose(err);
	cr_expect(strstr(said, "no '|' at its beginning; rename it"), "%s", said);
}

static char program[128];

/* What is called gnuplot from now on; NULL: nothing is. */
static void put_gnuplot(const char *text)
{
	snprintf(program, sizeof(program), "%s/gnuplot", folder);
	if (text) {
		write_to(program, text, strlen(text));
		cr_assert_eq(chmod(program, 0755), 0);
	}
	cr_assert_eq(setenv("PATH", folder, 1), 0);
}

/* More than a pipe holds, so that it breaks while it is written into. What was told is in `said`.
 */
static bool draw_much(void)
{
	FILE *err = fmemopen(said, sizeof(said), "w");
	bool good;

	cells[0].scenario.step = NS_PER_S;
	cells[0].tally.step_count = 100000;
	cells[0].tally.steps = calloc(100000, sizeof(*cells[0].tally.steps));
	good = sim_plot(cells, 1, "never.svg", err);
	free(cells[0].tally.steps);
	fclose(err);
	unlink(program);
	return good;
}

Test(sim_plot, who_has_no_gnuplot_is_told)
{
	put_gnuplot(NULL);
	cr_expect_not(draw_much());
	cr_expect(strstr(said, "is it installed?"), "%s", said);
}

Test(sim_plot, a_gnuplot_that_dies_is_told)
{
	put_gnuplot("#!/bin/sh\nexec </dev/null\nexit 3\n");
	cr_expect_not(draw_much());
	cr_expect(strstr(said, "gnuplot did not draw never.svg; correct what it says"), "%s", said);
}

Test(sim_plot, a_gnuplot_that_draws_is_not_told_of)
{
	put_gnuplot("#!/bin/sh\nexec /bin/cat >/dev/null\n");
	cr_expect(draw_much());
	cr_expect_str_eq(said, "");
}
