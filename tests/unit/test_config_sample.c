/* SPDX-License-Identifier: MIT */
/* The sample file and the manual say what the code does: both are made from the key table. */
#include "config_fixture.h"

#include "config/keys.h"
#include "tool/sample.c"

static char *slurp(const char *file)
{
	FILE *in = fopen(file, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t n;

	cr_assert_not_null(in, "%s: run the tests from the top folder", file);
	n = getdelim(&text, &size, '\0', in);
	cr_assert_gt(n, 0);
	fclose(in);
	return text;
}

static char *printed(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	cr_assert_not_null(out);
	print(out);
	fclose(out);
	return text;
}

Test(config_sample, the_checked_in_file_is_the_generated_one)
{
	char *text = slurp("conf/retrybudget.ini"), *made = printed(print_sample);

	cr_expect_str_eq(text, made,
	                 "renew it: build/retrybudget show --sample >conf/retrybudget.ini");
	free(text);
	free(made);
}

/* Zeroed first, so that all of both may be compared: text that was used or not, too. */
Test(config_sample, it_says_what_the_defaults_say, .init = make_folder, .fini = remove_folder)
{
	static struct config plain;
	char *text = slurp("conf/retrybudget.ini");

	config_defaults(&plain);
	cr_expect_eq(read_text(text), 0, "%s", said);
	cr_expect_eq(memcmp(&config, &plain, sizeof(config)), 0);
	free(text);
}

/* The examples in its comments are good configuration as well. */
Test(config_sample, its_examples_work, .init = make_folder, .fini = remove_folder)
{
	char *text = slurp("conf/retrybudget.ini"), *line;

	for (line = strstr(text, "\n; [destination"); line && (line = strstr(line, "\n; "));
	     line += 3)
		line[1] = ' ';
	line = strstr(text, "\n; mode");
	cr_assert_not_null(line);
	line[1] = ' ';
	cr_expect_eq(read_text(text), 0, "%s", said);
	cr_expect_eq(config.policy_count, 4);
	cr_expect_eq(config.pattern_count, 6);
	free(text);
}

Test(config_sample, every_key_is_in_it)
{
	char *text = slurp("conf/retrybudget.ini");

	for (int i = 0; i < KEY_COUNT; i++) {
		char start[64];

		snprintf(start, sizeof(start), "%s ", config_keys[i].name);
		cr_expect(strstr(text, start), "%s", start);
		cr_expect(strstr(text, config_keys[i].help) ||
		          config_keys[i].type == TYPE_PATTERNS);
	}
	free(text);
}

/* The page has its lines folded. */
static void unfold(char *text)
{
	for (; *text; text++)
		if (*text == '\n')
			*text = ' ';
}

Test(config_sample, the_manual_has_the_generated_key_list)
{
	char *page = slurp("conf/man/retrybudget.5"), *made = printed(print_man_keys);
	char *start = strstr(page, ".\\\" keys: made"), *end = strstr(page, ".\\\" keys: end");

	cr_assert_not_null(start);
	cr_assert_not_null(end);
	start = strchr(start, '\n') + 1;
	*end = '\0';
	unfold(start);
	unfold(made);
	cr_expect_str_eq(start, made, "renew it: scripts/check-docs --renew");
	free(page);
	free(made);
}

/* As retrybudget(5) prints them. */
Test(config_sample, the_defaults)
{
	config_defaults(&config);
	cr_expect_eq(config.general.mode, MODE_ENFORCE);
	cr_expect_eq(config.general.reload, NS_PER_S);
	cr_expect_str_eq(config.general.share, "default");
	cr_expect_str_eq(config.log.socket, "/dev/log");
	cr_expect_eq(config.log.interval, 30 * NS_PER_S);
	cr_expect_eq(config.process.capacity, 100000);
	cr_expect_eq(config.process.earn, 100);
	cr_expect_eq(config.process.floor, 2000);
	cr_expect_eq(config.process.start, PPM_WHOLE);
	cr_expect_eq(config.policies[0].bucket.capacity, 10000);
	cr_expect_eq(config.policies[0].bucket.floor, 200);
	cr_expect_eq(config.policies[0].bucket.threshold, 0);
	cr_expect_eq(config.policies[0].cost, 1000);
	cr_expect_eq(config.policies[0].probe, 10 * NS_PER_S);
	cr_expect_eq(config.policies[0].backoff.base, 100 * NS_PER_MS);
	cr_expect_eq(config.policies[0].backoff.factor, 2000);
	cr_expect_eq(config.policies[0].backoff.cap, 10 * NS_PER_S);
	cr_expect_eq(config.policies[0].backoff.min, 10 * NS_PER_MS);
	cr_expect_eq(config.policies[0].backoff.jitter, JITTER_EQUAL);
	cr_expect_eq(config.policies[0].hold, 250 * NS_PER_MS);
	cr_expect_eq(config.policies[0].horizon, 60 * NS_PER_S);
	cr_expect_eq(config.policies[0].min_life, 2 * NS_PER_S);
	cr_expect_eq(config.policies[0].nonblocking, NONBLOCKING_PARK);
	cr_expect_eq(config.policies[0].deny_errno, 0);
	cr_expect_eq(config.policies[0].mode, MODE_ENFORCE);
}
