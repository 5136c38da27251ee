/* SPDX-License-Identifier: MIT */
/* options.def, as getopt and as a reader of --help want it. */
#include "tool/options.h"

#include "tool/tool.h"

#include <stdbool.h>
#include <string.h>

static const struct row {
	const char *command, *name, *value, *help;
	int letter;
} rows[] = {
#define OPTION(command, name, letter, value, help) { #command, name, value, help, letter },
#include "tool/options.def"
};

#define ROW_COUNT (sizeof(rows) / sizeof(*rows))

static bool is_optional(const struct row *row)
{
	return row->value && row->value[0] == '[';
}

static int takes(const struct row *row)
{
	if (is_optional(row))
		return optional_argument;
	return row->value ? required_argument : no_argument;
}

/* How the name is joined to its value: "--log stderr", "--watch[=SECONDS]". */
static void join(const struct row *row, const char **between, const char **value)
{
	*between = is_optional(row) ? "[=" : row->value ? " " : "";
	*value = row->value ? row->value + is_optional(row) : "";
}

void options_of(const char *command, struct option list[OPTIONS_MAX])
{
	int n = 0;

	memset(list, 0, OPTIONS_MAX * sizeof(*list));
	for (size_t i = 0; i < ROW_COUNT && n < OPTIONS_MAX - 1; i++)
		if (strcmp(rows[i].command, command) == 0)
			list[n++] = (struct option) {
				.name = rows[i].name,
				.has_arg = takes(&rows[i]),
				.val = rows[i].letter,
			};
}

static int width_of(const struct row *row)
{
	return (int)(strlen(row->name) + (row->value ? strlen(row->value) + 1 : 0));
}

void options_print(const char *command, FILE *out)
{
	int widest = 0;

	for (size_t i = 0; i < ROW_COUNT; i++)
		if (strcmp(rows[i].command, command) == 0 && width_of(&rows[i]) > widest)
			widest = width_of(&rows[i]);
	for (size_t i = 0; i < ROW_COUNT; i++) {
		const struct row *row = &rows[i];
		bool is_short = row->letter < OPTION_OBSERVE;
		const char *between, *value;

		if (strcmp(row->command, command) != 0)
			continue;
		join(row, &between, &value);
		fprintf(out, "  %c%c%c --%s%s%s%*s  %s\n", is_short ? '-' : ' ',
		        is_short ? row->letter : ' ', is_short ? ',' : ' ', row->name, between,
		        value, widest - width_of(row), "", row->help);
	}
}

int options_usage(const char *command, const char *usage, const char *after, FILE *out)
{
	fputs(usage, out);
	options_print(command, out);
	fputs(after, out);
	return out == stderr || fflush(out) != 0 ? EXIT_USAGE : 0;
}
