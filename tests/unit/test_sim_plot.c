/* SPDX-License-Identifier: MIT */
/* What gnuplot is told of simulations. */
#include "config_fixture.h"
#include "tool/sim_gnuplot.h"
#include "tool/sim_plot.h"

TestSuite(sim_plot, .init = make_folder, .fini = remove_folder);

static struct sim_file file;
static struct sim_cell cells[2];
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
