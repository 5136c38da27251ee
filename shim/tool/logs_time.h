/* SPDX-License-Identifier: MIT */
/* Moments in logs: µs since 1970. */
#ifndef RETRYBUDGET_TOOL_LOGS_TIME_H
#define RETRYBUDGET_TOOL_LOGS_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define US_PER_S INT64_C(1000000)

/* A moment as --since takes it: "2h", "yesterday", "12:30", "2026-11-23 12:30". */
bool log_moment(const char *text, time_t now, int64_t *when);

/* The stamp at the beginning of a line, and where what follows it begins; 0: none. */
size_t log_stamp(const char *line, time_t now, int64_t *when);

/* "2026-11-23 12:30:00" in local time; lasts until the next call. */
const char *log_time_text(int64_t when);

#endif
