/* SPDX-License-Identifier: MIT */
/* Keys on the command line: over the file, wherever they stand, and told as the file's are. */
#include "config_fixture.h"

#include "tool/settings.c"

TestSuite(settings, .init = make_folder, .fini = remove_folder);

static void hear(void *arg, const char *file, int line, const char *message)
{
	size_t used = strlen(said);

	(void)arg;
	snprintf(said + used, sizeof(said) - used, "%s:%d: %s\n",
	         strcmp(file, path) == 0 ? "file" : file, line, message);
	messages++;
}

/* What a file and lines over it make. */
static enum reading_result read_over(const char *text, const char *overrides)
{
	struct source source = {
		.file = path,
		.missing_ok = true,
		.mode = MODE_AS_IN_FILE,
		.overrides = overrides,
		.complain = hear,
	};
	struct identity identity;
	uint32_t fingerprint;

	said[0] = '\0';
	messages = 0;
	unlink(path);
	if (text)
		write_bytes(text, strlen(text));
	return config_read_source(&config, &source, &identity, &fingerprint);
}

Test(settings, stand_over_the_file)
{
	cr_expect_eq(
	    read_over("[destination a]\nmatch = a:1\nfloor = 2/s\n"
	              "[destination default]\nfloor = 3/s\nprobe = 20s\n[log]\ntrace = 1\n",
	              "[destination default] floor = 4/s\n[log] trace = 2\n"
	              "[destination a] probe = 30s\n[destination new.x] match = b:2\n"
	              "[destination new.x] floor = 5/s\n[budget] capacity = 7\n"),
	    READING_GOOD, "%s", said);
	cr_expect_eq(config.policy_count, 3);
	cr_expect_eq(config.policies[0].bucket.floor, 4000);
	cr_expect_eq(config.policies[1].bucket.floor, 2000, "the section's own");
	cr_expect_eq(config.policies[0].probe, 20 * NS_PER_S);
	cr_expect_eq(config.policies[1].probe, 30 * NS_PER_S);
	cr_expect_str_eq(config.labels[2], "new.x");
	cr_expect_eq(config.policies[2].bucket.floor, 5000);
	cr_expect_eq(config.policies[2].probe, 20 * NS_PER_S);
	cr_expect_eq(config.log.trace, 2);
	cr_expect_eq(config.process.capacity, 7000);
}

Test(settings, need_no_file)
{
	cr_expect_eq(
	    read_over(NULL, "[retrybudget] mode = observe\n[destination default] floor = 4/s\n"),
	    READING_MISSING);
	cr_expect_eq(config.policies[0].bucket.floor, 4000);
	cr_expect_eq(config.policies[0].mode, MODE_OBSERVE);
	cr_expect_eq(config.general.mode, MODE_OBSERVE);
}

Test(settings, each_fault_is_told_of_what_has_it)
{
	cr_expect_eq(read_over("[destination a]\nfloor = x\n",
	                       "[log] trase = 1\n[lgo] trace = 1\n"
	                       "[destination b] floor = 1/s\n"
	                       "[lgo] trace = 2\n"
	                       "[destination default] base = 20s\n"),
	             READING_FLAWED);
	cr_expect_str_eq(
	    said,
	    "file:2: floor = 'x' is not a rate such as 2/s, 12/min or 30/h, of at least 0.0005/s\n"
	    "file:1: this section has no match line, so it is for nothing; add for example 'match "
	    "= "
	    "db.internal:5432'\n"
	    "--set:1: unknown key 'trase'; did you mean 'trace'?\n"
	    "--set:2: unknown section 'lgo'; did you mean [log]?\n"
	    "--set:3: this section has no match line, so it is for nothing; add for example 'match "
	    "= "
	    "db.internal:5432'\n"
	    "--set:4: unknown section 'lgo'; did you mean [log]?\n"
	    "--set:5: base = 20s is longer than cap = 10s and counts as that; set a shorter base "
	    "or "
	    "a longer cap; usual: 100ms and 10s\n");
	cr_expect_eq(read_over("[log]\ntrace = 9\n", "[log] trace = 1\n[log] trace = 2\n"),
	             READING_FLAWED);
	cr_expect_str_eq(said, "--set:2: 'trace' stands already in line 1; keep one of them\n");
	cr_expect_eq(config.log.trace, 1);
}

Test(settings, of_a_wrong_value_hidden_by_a_right_one)
{
	cr_expect_eq(read_over("[log]\ntrace = nine\n", "[log] trace = 1\n"), READING_GOOD);
	cr_expect_eq(config.log.trace, 1);
}

Test(settings, from_the_command_line)
{
	static const struct {
		const char *given, *text;
	} cases[] = {
		{ "ratio=5%", "[destination default] ratio = 5%\n" },
		{ "destination db.x.floor = 1/s", "[destination db.x] floor =  1/s\n" },
		{ "log.target=none", "[log] target = none\n" },
		{ "destination db.match=10.0.0.0/8:5432",
		  "[destination db] match = 10.0.0.0/8:5432\n" },
		{ "nothing=1", "[destination default] nothing = 1\n" },
		{ "floor=1/s", NULL },
		{ "listen=:80", NULL },
		{ "x", NULL },
		{ "=1", NULL },
		{ "log.=1", NULL },
		{ "log.trace=1\n[log]", NULL },
		{ "lo]g.trace=1", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct setting_list list = { .count = 0 };

		cr_expect_eq(settings_add(&list, cases[i].given), cases[i].text != NULL, "%s",
		             cases[i].given);
		if (cases[i].text)
			cr_expect_str_eq(list.text, cases[i].text);
	}
}

Test(settings, never_more_than_fit)
{
	struct setting_list list = { .count = 0 };
	int n = 0;

	while (settings_add(&list, "log.socket=/run/some/rather/long/path/to/a/socket/of/logs"))
		n++;
	cr_expect(n > 10 && n <= OVERRIDES);
	cr_expect_lt(strlen(list.text), sizeof(list.text));
}
