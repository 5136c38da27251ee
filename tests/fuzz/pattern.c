// SPDX-License-Identifier: MIT
/* Patterns: bytes up to a newline are one, the rest is a name that it is held against. A pattern
 * that is taken prints as one that is taken again and fits the same. */
#include "config/pattern.h"
#include "config/match.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool add(struct config *config, const char *pattern, size_t n)
{
	char said[256];
	struct text why;
	int twin;
	bool taken;

	text_start(&why, said, sizeof(said));
	config->pattern_count = 0;
	config->text_used = 0;
	taken = pattern_add(config, 0, pattern, n, &twin, &why);
	if (!taken && why.used == 0)
		abort(); /* the reason must be said */
	if (taken && (config->pattern_count != 1 || config->text_used > CONFIG_TEXT))
		abort();
	return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct config config;
	const uint8_t *end = memchr(data, '\n', size);
	size_t n = end ? (size_t)(end - data) : size;
	size_t rest = end ? size - n - 1 : 0;
	uint8_t address[16] = { [10] = 0xff, [11] = 0xff };
	char name[300];
	static char printed[4 * CONFIG_TEXT]; /* all that it takes, escaped */
	struct target target = { .name = name };
	struct text out;
	int fits;

	if (rest > sizeof(name) - 1)
		rest = sizeof(name) - 1;
	memcpy(name, end ? end + 1 : data, rest);
	name[rest] = '\0';
	if (rest >= 6) {
		memcpy(address + (rest & 8), name, rest & 1 ? 8 : 4);
		target.address = address;
		target.port = (uint16_t)((uint8_t)name[4] << 8 | (uint8_t)name[5]);
	}
	/* A file with such a byte is no text, and not read; of two dots at the end of a name, which
	 * none has, each reading takes one. */
	for (size_t i = 0; i < n; i++)
		if (data[i] < ' ' || data[i] == 0x7f || (i > 0 && !memcmp(data + i - 1, "..", 2)))
			return 0;
	if (!add(&config, (const char *)data, n))
		return 0;
	fits = pattern_find(&config, &target);
	text_start(&out, printed, sizeof(printed));
	pattern_print(&config, 0, &out);
	if (out.used == 0 || !add(&config, printed, out.used) ||
	    pattern_find(&config, &target) != fits)
		abort();
	return 0;
}
