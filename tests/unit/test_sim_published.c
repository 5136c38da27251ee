/* SPDX-License-Identifier: MIT */
/* The simulator against published numbers: each scenario says what should come out, how near. */
#include "tool/sim_print.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdlib.h>

/* Millions of tries take a sanitizer minutes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SCENARIOS "conf/scenarios/published-l*.ini"
#define LEAST     2
#else
#define SCENARIOS "conf/scenarios/*.ini"
#define LEAST     15
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
