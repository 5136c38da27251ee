/* SPDX-License-Identifier: MIT */
/* `run -c FILE`: only a file that the shim will use. */
#include "config_fixture.h"

#include "tool/run.c" /* what it calls is in test_inspect.c */
#include "tool/tell.c"

/* Which the tests do with real programs. */
int run_and_tell(char **command, int (*begin)(char **command))
{
	return begin(command);
}

TestSuite(config_run, .init = make_folder, .fini = remove_folder);

/* What set_config() wrote to stderr, in said. */
static int ask(const char *file)
{
	char other[80];
	int kept = dup(STDERR_FILENO), fd, result;
	ssize_t n;

	snprintf(other, sizeof(other), "%s/other", folder);
	fd = open(other, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	cr_assert(fd >= 0 && kept >= 0);
	unsetenv("RETRYBUDGET_CONFIG");
	dup2(fd, STDERR_FILENO);
	result = set_config(file);
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	n = pread(fd, said, sizeof(said) - 1, 0);
	cr_assert_geq(n, 0);
	said[n] = '\0';
	close(fd);
	return result;
}

static void put(const char *text)
{
	write_bytes(text, strlen(text));
}

Test(config_run, a_good_file_is_handed_on)
{
	put("[log]\ntrace = 1\n");
	cr_expect_eq(ask(path), 0);
	cr_expect_str_eq(said, "");
	cr_expect_str_eq(getenv("RETRYBUDGET_CONFIG"), path);
}

Test(config_run, mistakes_are_warnings)
{
	char expected[128];

	put("[log]\ntrce = 1\n");
	cr_expect_eq(ask(path), 0);
	snprintf(expected, sizeof(expected), "%s:2: unknown key 'trce'", path);
	expect_said(expected);
	cr_expect_str_eq(getenv("RETRYBUDGET_CONFIG"), path);
}

/* The shim would go on with its defaults, and nobody would know. */
Test(config_run, a_file_that_the_shim_refuses_is_refused)
{
	write_bytes("[log]\n\0", 7);
	cr_expect_eq(ask(path), EXIT_OWN);
	expect_said("a byte that no text file has");
	expect_said("nothing was started");
	cr_assert_null(getenv("RETRYBUDGET_CONFIG"));
	cr_expect_eq(ask("/no/such/file"), EXIT_OWN);
	expect_said("cannot read /no/such/file");
	cr_expect_eq(ask(folder), EXIT_OWN);
	cr_assert_null(getenv("RETRYBUDGET_CONFIG"));
}

Test(config_run, a_file_of_somebody_else)
{
	if (geteuid() != 0)
		cr_skip_test("only root has files of others to refuse");
	put("[log]\ntrace = 1\n");
	cr_assert_eq(chown(path, 12345, -1), 0);
	cr_expect_eq(ask(path), EXIT_OWN);
	cr_assert_null(getenv("RETRYBUDGET_CONFIG"));
}
