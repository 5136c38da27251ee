/* SPDX-License-Identifier: MIT */
/* The simulator against published numbers: each scenario says what should come out, how near. */
#include "tool/sim_print.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* Millions of tries take a sanitizer minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCENARIOS "conf/scenarios/published-l*.ini"
#define LEAST     2
#else
#define SCENARIOS "conf/scenarios/*.ini"
#define LEAST     18
#endif

/* Plays all variants of a scenario. Returns how many of its expectations were missed. */
static int missed_in(const char *path, int *expected)
{
	static struct sim_file file;
	struct sim_cell *cells = calloc(SIM_VARIANTS, sizeof(*cells));
	int missed;

	cr_assert(cells && sim_file_read(&file, path, stderr), "%s", path);
	for (int i = 0; i < file.variant_count; i++)
		cr_assert(sim_cell_make(&cells[i], &file, &file.variants[i], NULL, NULL, "default",
		                        stderr),
		          "%s", path);
	sim_cells_play(cells, file.variant_count, 0);
	missed = sim_print_expectations(&file, cells, file.variant_count, stderr);
	*expected = file.expectation_count;
	free(cells);
	return missed;
}

Test(sim_published, scenarios_say_what_they_should)
{
	glob_t all;

	cr_assert_eq(glob(SCENARIOS, 0, NULL, &all), 0);
	cr_expect_geq(all.gl_pathc, LEAST);
	for (size_t i = 0; i < all.gl_pathc; i++) {
		int expected, missed = missed_in(all.gl_pathv[i], &expected);

		cr_expect_eq(missed, 0, "%s: %d", all.gl_pathv[i], missed);
		cr_expect(expected > 0, "%s expects nothing", all.gl_pathv[i]);
	}
	globfree(&all);
}

Test(sim_published, what_never_came_about_is_no_number)
{
	static struct sim_file file = {
		.expectation_count = 2,
		.expectations = { { .variant = "a", .metric = "recovery", .kind = '<' },
		                  { .variant = "a",
		                    .metric = "recovery",
		                    .kind = '<',
		                    .value = 5 } },
	};
	struct sim_cell *cell = calloc(1, sizeof(*cell));
	char told[256] = "";
	FILE *out = fmemopen(told, sizeof(told), "w");

	cr_assert(cell && out);
	strcpy(cell->name, "a");
	cell->result.metric[sim_metric_named("recovery")] = -1;
	cr_expect_eq(sim_print_expectations(&file, cell, 1, out), 1);
	fclose(out);
	cr_expect_str_eq(told, "a: recovery: never, expected never\n"
	                       "a: recovery: never, expected < 5: MISSED\n");
	free(cell);
}
