/* SPDX-License-Identifier: MIT */
/* The bytes of a log as lines. */
#include "tool/logs_lines.h"

#include <string.h>

void log_lines_feed(struct log_lines *lines, const char *bytes, size_t n, log_take *take, void *arg)
{
	while (n > 0) {
		const char *newline = memchr(bytes, '\n', n);
		size_t part = newline ? (size_t)(newline - bytes) : n;

		if (part > sizeof(lines->line) - lines->used)
			lines->dropping = true;
		if (!lines->dropping) {
			memcpy(lines->line + lines->used, bytes, part);
			lines->used += part;
		}
		if (!newline)
			return;
		if (lines->dropping)
			lines->dropped++;
		else
			take(arg, lines->line, lines->used);
		lines->used = 0;
		lines->dropping = false;
		bytes += part + 1;
		n -= part + 1;
	}
}
