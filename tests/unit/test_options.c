/* SPDX-License-Identifier: MIT */
/* The table of options, as getopt and the readers of --help get it. */
#include <criterion/criterion.h>

#include "tool/options.c"

#include <stdlib.h>

Test(options, every_subcommand_has_its_own_and_fits_the_list)
{
	static const char *const commands[] = {
#define COMMAND(name, operands, arguments, purpose) #name,
#include "tool/options.def"
	};
	struct option list[OPTIONS_MAX];
	size_t seen = 0;

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		bool help = false;

		options_of(commands[i], list);
		for (const struct option *option = list; option->name; option++) {
			help = help || strcmp(option->name, "help") == 0;
			seen++;
		}
		cr_expect(help, "%s --help", commands[i]);
	}
	cr_expect_eq(seen, ROW_COUNT, "an option of no subcommand, or one that found no room");
	options_of("run", list);
	cr_expect_str_eq(list[0].name, "config");
	cr_expect_eq(list[0].has_arg, required_argument);
	cr_expect_eq(list[0].val, 'c');
}

Test(options, are_printed_in_columns)
{
	char *text = NULL;
	const char *at;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	options_print("run", out);
	fclose(out);
	/* Which begin where the longest ends. */
	at = strstr(text, "use FILE instead of ");
	cr_assert(strncmp(text, "  -c, --config FILE  ", 21) == 0 && at, "%s", text);
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		cr_expect(line[at - text] != ' ' && strncmp(line + (at - text) - 2, "  ", 2) == 0,
		          "%s", text);
	free(text);
}
