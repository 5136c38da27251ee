/* SPDX-License-Identifier: MIT */
/* A file that its reader takes for whole is whole. */
#define exposition_write forged_exposition
#include "agent/textfile.c"
#undef exposition_write

#include <criterion/criterion.h>
#include <fcntl.h>

static bool is_full; /* the disk, for a moment */

void forged_exposition(const struct totals *totals, const struct round *round, FILE *out)
{
	int fd = dup(fileno(out)), full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)totals;
	(void)round;
	fputs("first 1\n", out);
	if (is_full)
		dup2(full, fileno(out));
	(void)fflush(out);
	dup2(fd, fileno(out));
	fputs("last 1\n", out);
	close(fd);
	close(full);
}

static char folder[] = "/tmp/textfile-XXXXXX";

static bool holds(const char *wanted)
{
	char name[64], text[64] = "";
	FILE *file;

	snprintf(name, sizeof(name), "%s/retrybudget.prom", folder);
	file = fopen(name, "r");
	cr_assert_not_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return strcmp(text, wanted) == 0;
}

Test(textfile, one_with_a_gap_never_stands_there)
{
	char command[64];

	cr_assert_not_null(mkdtemp(folder));
	cr_expect(textfile_write(folder, NULL, NULL));
	cr_expect(holds("first 1\nlast 1\n"));
	is_full = true;
	cr_expect_not(textfile_write(folder, NULL, NULL));
	cr_expect(holds("first 1\nlast 1\n"), "the old one");
	snprintf(command, sizeof(command), "test $(ls -A %s | wc -l) = 1", folder);
	cr_expect_eq(system(command), 0, "nothing else is left there");
	snprintf(command, sizeof(command), "rm -r %s", folder);
	cr_expect_eq(system(command), 0);
}
