/* SPDX-License-Identifier: MIT */
/* A label may have dots in it, a key has none: the last one before the '=' parts them. */
#include "tool/settings.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The stack is our own here, unlike in the shim. */
#pragma GCC diagnostic ignored "-Wframe-larger-than="

static bool wrong(const char *given, const char *why)
{
	fprintf(stderr, "retrybudget: run: --set '%s': %s\n", given, why);
	return false;
}

/* A line of a section of which there may be many names its default one, or a label. */
static void print_section(FILE *out, int section)
{
	fprintf(out, "%s%s", section_name((enum section)section),
	        section == SECTION_DESTINATION ? " default"
	        : section == SECTION_ADMISSION ? " NAME"
	                                       : "");
}

/* The only section with this key, -1 if there is none, and -2, told, if there are more. */
static int only_section(const char *given, const char *key)
{
	int found = -1, count = 0;

	for (int i = 0; i < SECTION_COUNT; i++)
		if (key_find((enum section)i, key)) {
			found = i;
			count++;
		}
	if (count <= 1)
		return found;
	fprintf(stderr, "retrybudget: run: --set '%s': more than one section has %s; write ", given,
	        key);
	for (int i = 0; i < SECTION_COUNT; i++) {
		if (!key_find((enum section)i, key))
			continue;
		fputc('\'', stderr);
		print_section(stderr, i);
		fprintf(stderr, ".%s=...'%s", key, --count ? " or " : "\n");
	}
	return -2;
}

bool settings_add(struct setting_list *list, const char *given)
{
	const char *sign = strchr(given, '='), *dot, *end;
	char section[64] = "", key[64] = "";
	size_t used = strlen(list->text);
	int n, only;

	if (!sign)
		return wrong(given, "write SECTION.KEY=VALUE, for example 'destination "
		                    "default.floor=1/s'");
	dot = memrchr(given, '.', (size_t)(sign - given));
	end = sign;
	while (end > given && end[-1] == ' ')
		end--;
	if ((dot && dot - given >= (ptrdiff_t)sizeof(section)) ||
	    end - (dot ? dot + 1 : given) >= (ptrdiff_t)sizeof(key) || (dot && dot + 1 > end))
		return wrong(given, "the section or the key is too long");
	memcpy(key, dot ? dot + 1 : given, (size_t)(end - (dot ? dot + 1 : given)));
	if (dot)
		memcpy(section, given, (size_t)(dot - given));
	if (strpbrk(given, "\n\r") || strpbrk(section, "[]") || *key == '\0' ||
	    strpbrk(key, "[];#"))
		return wrong(given, "that cannot be a line of the file");
	if (!dot) {
		only = only_section(given, key);
		if (only == -2)
			return false;
		if (only == SECTION_ADMISSION)
			return wrong(given, "that is a key of [admission NAME]: write 'admission "
			                    "NAME.KEY=VALUE'");
		/* Which the reader will find none of, and say which is meant. */
		if (only == -1)
			only = SECTION_DESTINATION;
		(void)snprintf(section, sizeof(section), "%s%s", section_name((enum section)only),
		               only == SECTION_DESTINATION ? " default" : "");
	}
	if (list->count == OVERRIDES)
		return wrong(given, "too many; put them into a file");
	n = snprintf(list->text + used, sizeof(list->text) - used, "[%s] %s = %s\n", section, key,
	             sign + 1);
	if (n < 0 || (size_t)n >= sizeof(list->text) - used || n > 198)
		return wrong(given, "too long; put it into a file");
	list->given[list->count++] = given;
	return true;
}

struct checking {
	const struct setting_list *list;
	bool wrong;
};

static void tell_ours(void *arg, const char *file, int line, const char *message)
{
	struct checking *checking = arg;

	if (strcmp(file, OVERRIDES_FILE) != 0) /* the file has been told of, or will be */
		return;
	checking->wrong = true;
	if (line > 0 && line <= checking->list->count)
		wrong(checking->list->given[line - 1], message);
}

bool settings_check(const struct setting_list *list, const char *file)
{
	static struct config unused; /* large; only the messages count */
	struct checking checking = { .list = list };
	struct source source = {
		.file = file,
		.missing_ok = true,
		.mode = MODE_AS_IN_FILE,
		.overrides = list->text,
		.complain = tell_ours,
		.arg = &checking,
	};
	struct identity identity;
	uint32_t fingerprint;

	(void)config_read_source(&unused, &source, &identity, &fingerprint);
	return !checking.wrong;
}
