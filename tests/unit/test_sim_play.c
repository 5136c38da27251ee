/* SPDX-License-Identifier: MIT */
/* What `retrybudget simulate SCENARIO` answers, and in which order. */
#include "config_fixture.h"

/* test_simulate_command.c has others of these names. */
#define sim_answer         played_answer
#define sim_question_set   played_set
#define sim_question_sweep played_sweep

#include "tool/sim_play.c"

bool sim_print_json(const struct sim_cell *cells, int count, FILE *out)
{
	return cells && count > 0 && out;
}

static char table[128], seen[128], program[128];

static void make_files(void)
{
	make_folder();
	snprintf(table, sizeof(table), "%s/table", folder);
	snprintf(seen, sizeof(seen), "%s/seen", folder);
	snprintf(program, sizeof(program), "%s/gnuplot", folder);
	cr_assert_eq(setenv("PATH", folder, 1), 0);
}

static void remove_files(void)
{
	unlink(table);
	unlink(seen);
	unlink(program);
	remove_folder();
}

TestSuite(sim_play, .init = make_files, .fini = remove_files);

static struct sim_question question = { .label = "default", .threads = 1 };

#define SCENARIO                                                                                   \
	"[scenario]\nabout = a small one\nduration = 2s\n[clients]\nrate = 10/s\n[server]\n"       \
	"capacity = 50/s\n[outage]\nfrom = 0\nuntil = 1s\n"

static int answer_to(const char *text)
{
	FILE *out = fopen(table, "w"), *err = fmemopen(said, sizeof(said), "w");
	int result;

	cr_assert(out && err);
	write_bytes(text, strlen(text));
	question.scenario = path;
	result = sim_answer(&question, out, err);
	fclose(out);
	fclose(err);
	return result;
}

static bool holds(const char *file, const char *text)
{
	static char bytes[1 << 14];
	int fd = open(file, O_RDONLY);
	ssize_t n = read(fd, bytes, sizeof(bytes) - 1);

	if (n < 0)
		return false;
	close(fd);
	bytes[n] = '\0';
	return strstr(bytes, text);
}

/* A picture that cannot be drawn takes nothing else with it. */
Test(sim_play, the_table_is_out_before_the_plot)
{
	static char copies[512];

	snprintf(copies, sizeof(copies), "#!/bin/sh\n/bin/cat >/dev/null\n/bin/cp %s %s\n", table,
	         seen);
	write_to(program, copies, strlen(copies));
	cr_assert_eq(chmod(program, 0755), 0);
	question.plot = "one.svg";
	cr_expect_eq(answer_to(SCENARIO), 0, "%s", said);
	cr_expect(holds(seen, "a small one\n"));
	cr_expect(holds(seen, "\nlibrary "));
}

Test(sim_play, without_gnuplot_the_table_is_there)
{
	question.plot = "one.svg";
	cr_expect_eq(answer_to(SCENARIO), 1);
	cr_expect(strstr(said, "is it installed?"), "%s", said);
	cr_expect(holds(table, "\nlibrary "));
}

Test(sim_play, an_empty_variant_is_played)
{
	cr_expect_eq(
	    answer_to(SCENARIO "[variant bare]\nclients.library = off\n[variant as it is]\n"), 0,
	    "%s", said);
	cr_expect(holds(table, "\nbare "));
	cr_expect(holds(table, "\nas it is "));
}

/* gnuplot gets what is swept: a line for each variant with each value of the second one. */
Test(sim_play, a_sweep_is_plotted)
{
	static char copies[256];

	snprintf(copies, sizeof(copies), "#!/bin/sh\n/bin/cat >%s\n", seen);
	write_to(program, copies, strlen(copies));
	cr_assert_eq(chmod(program, 0755), 0);
	question.plot = "one.svg";
	cr_assert(sim_question_sweep(&question, "clients.rate=10,20,40", stderr));
	cr_assert(sim_question_sweep(&question, "clients.tries=1,3", stderr));
	cr_expect_eq(answer_to(SCENARIO), 0, "%s", said);
	cr_expect(holds(table, "\nbare rate=10/s tries=1 "));
	cr_expect(holds(seen, "set xlabel 'clients.rate, /s'"));
	cr_expect(holds(seen, "title 'bare tries=1'"));
	cr_expect(holds(seen, "title 'library tries=3'"));
	cr_expect(holds(seen, "$s3 << EOD\n10 "));
	cr_expect_not(holds(seen, "$s4 << EOD\n"));
}

Test(sim_play, a_region_is_neither_swept_nor_json)
{
	question.region = true;
	question.json = true;
	cr_expect_eq(answer_to(SCENARIO), EXIT_USAGE);
	cr_expect(strstr(said, "--region prints maps alone; leave --sweep, "), "%s", said);
}
