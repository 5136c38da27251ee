/* SPDX-License-Identifier: MIT */
/* Text for Prometheus: whatever names are forged, no two samples are of one name. */
#include "agent/exposition.c"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct totals totals;

static void start(void)
{
	cr_assert(totals_start(&totals, 100));
}

static void end(void)
{
	totals_end(&totals);
}

TestSuite(exposition, .init = start, .fini = end);

static void forge(const char *program, const char *destination, const char *policy)
{
	static struct destination one;
	static uint64_t region;

	memset(&one, 0, sizeof(one));
	memcpy(one.name, destination, strlen(destination));
	memcpy(one.policy, policy, strlen(policy));
	one.tally.attempts = 3;
	totals_add(&totals, ++region, 0, program, &one);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All that is written, without values. Returns how many lines there are; each is its sample's name.
 */
static size_t write_all(char **text, char **lines, size_t most)
{
	struct round round = { 0 };
	size_t size = 0, count = 0;
	FILE *out = open_memstream(text, &size);

	exposition_write(&totals, &round, out);
	fclose(out);
	for (char *line = strtok(*text, "\n"); line; line = strtok(NULL, "\n")) {
		cr_assert_lt(count, most);
		if (*line == '#')
			continue;
		cr_assert_not_null(strrchr(line, ' '), "%s", line);
		*strrchr(line, ' ') = '\0';
		lines[count++] = line;
	}
	qsort(lines, count, sizeof(*lines), by_text);
	return count;
}

Test(exposition, no_two_samples_are_of_one_name)
{
	static const char *const names[] = { "\001", "\\x01", "\\",  "\\\\", "\\x5c", "\"",
		                             "\\\"", "\n",    "\\n", "n",    "\\x0a", "" };
	enum { COUNT = sizeof(names) / sizeof(*names), LINES = 20000 };
	static char *lines[LINES];
	char *text;
	size_t count;

	totals_begin(&totals);
	for (int i = 0; i < COUNT; i++) {
		forge(names[i], "db", "default");
		forge("app", names[i], "default");
		forge("app", "db", names[i]);
	}
	forge("other", "other", "other");
	for (int i = 0; i < 100; i++) /* more than there is room for */
		forge("app", (char[]) { 'a' + i % 26, 'a' + i / 26, '\0' }, "default");
	totals_finish(&totals, 1);
	count = write_all(&text, lines, LINES);
	for (size_t i = 1; i < count; i++)
		cr_expect(strcmp(lines[i - 1], lines[i]) != 0);
	free(text);
}

Test(exposition, what_a_program_calls_other_is_summed_there)
{
	totals_begin(&totals);
	forge("other", "other", "other");
	forge("other", "other", "default");
	totals_finish(&totals, 1);
	cr_expect_eq(totals.count, 2);
	cr_expect_eq(totals.series[0].values[TALLY_PLACE(attempts)], 3);
}

Test(exposition, of_a_name_each_byte_is_told)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	put_value("a\\b\"\n\001\xff~ ", out);
	fclose(out);
	cr_expect_str_eq(text, "a\\\\x5cb\\\"\\\\x0a\\\\x01\\\\xff~ ");
	free(text);
}
