/* SPDX-License-Identifier: MIT */
/* retrybudget simulate: which file is what, and what is said where one is missing. */
#include "tool/simulate.c" /* test_options.c and test_simulate.c have what it calls, but for these: */

#include "config_fixture.h"

bool sim_question_set(struct sim_question *question, const char *text, FILE *err)
{
	return question && text && err;
}

bool sim_question_sweep(struct sim_question *question, const char *text, FILE *err)
{
	return question && text && err;
}

int sim_answer(const struct sim_question *question, FILE *out, FILE *err)
{
	fprintf(out, "scenario %s, config %s, label %s\n",
	        question->scenario ? question->scenario : "-",
	        question->config ? question->config : "-", question->label);
	return err ? 0 : 1;
}

#define WORDS 8

static char other[128], wanted[512];

static void make_files(void)
{
	make_folder();
	snprintf(other, sizeof(other), "%s/other", folder);
}

TestSuite(simulate_command, .init = make_files, .fini = remove_folder);

/* Runs the command with those words, and without a terminal. What it said is in `said`. */
static int ask(const char *const *words)
{
	char *argv[WORDS + 1] = { (char *)(uintptr_t) "simulate" }, told[160];
	int argc = 1, result, fd, null = open("/dev/null", O_RDONLY);
	ssize_t n;

	while (argc < WORDS && words[argc - 1]) {
		argv[argc] = (char *)(uintptr_t)words[argc - 1];
		argc++;
	}
	snprintf(told, sizeof(told), "%s/told", folder);
	fd = open(told, O_RDWR | O_CREAT | O_TRUNC, 0600);
	cr_assert(fd >= 0 && null >= 0);
	unlink(told);
	dup2(null, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	memset(&asked, 0, sizeof(asked));
	optind = 0; /* a new list of words */
	result = cmd_simulate(argc, argv);
	fflush(stdout);
	n = pread(fd, said, sizeof(said) - 1, 0);
	cr_assert(n >= 0);
	said[n] = '\0';
	close(fd);
	close(null);
	return result;
}

#define ASK(...) ask((const char *const[]) { __VA_ARGS__, NULL })

static const char *question(const char *scenario, const char *configuration, const char *label)
{
	snprintf(wanted, sizeof(wanted), "scenario %s, config %s, label %s\n", scenario,
	         configuration, label);
	return wanted;
}

#define SCENARIO "; not yet\n [clients web]\nrate = 10/s\n[server]\n"
#define POLICY   "[retrybudget]\nscope = host\n[destination clients]\nfloor = 1/s\n[fleet]\n"

static void put(const char *file, const char *text)
{
	write_to(file, text, strlen(text));
}

Test(simulate_command, a_scenario_needs_no_option)
{
	put(path, SCENARIO);
	cr_expect_eq(ASK(path), 0);
	cr_expect_str_eq(said, question(path, "-", "default"));
	cr_expect_eq(ASK("--scenario", path), 0);
	cr_expect_str_eq(said, question(path, "-", "default"));
	cr_expect_eq(ASK("--set", "clients.rate=20/s", path, "--json"), 0);
	cr_expect_str_eq(said, question(path, "-", "default"));
}

Test(simulate_command, the_second_file_is_the_configuration)
{
	put(path, SCENARIO);
	put(other, POLICY);
	cr_expect_eq(ASK(path, other, "slow"), 0);
	cr_expect_str_eq(said, question(path, other, "slow"));
	cr_expect_eq(ASK("-s", path, other), 0);
	cr_expect_str_eq(said, question(path, other, "default"));
	cr_expect_eq(ASK(path, other, "slow", "more"), EXIT_USAGE);
}

/* What is wrong with one is told in the words of a scenario, not of a configuration. */
Test(simulate_command, a_part_of_a_scenario_is_one)
{
	static const char *const parts[] = { "[scenario]\n", "[server db]\n", "[outage\tnow]\n",
		                             "[variant a]\n", "[expect a]\n" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		put(path, parts[i]);
		cr_expect_eq(ASK(path), 0, "%s", parts[i]);
		cr_expect_str_eq(said, question(path, "-", "default"));
	}
}

/* Of standard input, which is empty. */
Test(simulate_command, a_configuration_is_asked_about_a_trace)
{
	put(other, POLICY);
	cr_expect_eq(ASK(other, "clients"), 0, "%s", said);
	cr_expect(strstr(said, "# 0 of 0 retries went\n"), "%s", said);
}

Test(simulate_command, what_is_missing_is_told)
{
	put(other, POLICY);
	cr_expect_eq(ask((const char *const[]) { NULL }), EXIT_USAGE);
	cr_expect(strstr(said, "no scenario is named; write: retrybudget simulate SCENARIO "), "%s",
	          said);
	cr_expect_eq(ASK("--json", other), EXIT_USAGE);
	cr_expect(strstr(said, "--json is of a scenario, and ") &&
	              strstr(said, " is none; write: "),
	          "%s", said);
	cr_expect_eq(ASK("-s", other), EXIT_USAGE);
	cr_expect(strstr(said, " is no scenario: it has no section [clients], "), "%s", said);
	put(path, SCENARIO);
	cr_expect_eq(ASK("-s", path, path), EXIT_USAGE);
	cr_expect(strstr(said, " is a scenario, too, and one is played; write: "), "%s", said);
	cr_expect_eq(ASK("--keys"), 0, "%s", said);
}
