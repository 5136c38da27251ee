/* SPDX-License-Identifier: MIT */
/* Bytes into lines, wherever they were cut. */
#ifndef RETRYBUDGET_TOOL_LOGS_LINES_H
#define RETRYBUDGET_TOOL_LOGS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_LINE_MAX 8192

typedef void log_take(void *arg, const char *line, size_t n);

/* Bytes into lines. One that is longer than any record is dropped, and counted. */
struct log_lines {
	char line[LOG_LINE_MAX];
	size_t used;
	bool dropping;
	int64_t dropped;
};

/* Takes n bytes more: take() gets each line that ends among them, without its end. */
void log_lines_feed(struct log_lines *lines, const char *bytes, size_t n, log_take *take,
                    void *arg);

#endif
