/* SPDX-License-Identifier: MIT */
/* One record that was logged, out of its line. Whoever may write to the log has written it: nothing
 * of a line is trusted. */
#ifndef RETRYBUDGET_TOOL_LOGS_ENTRY_H
#define RETRYBUDGET_TOOL_LOGS_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* One record. What it has no field for is 0 or "". Texts are printable ASCII whatever was logged.
 */
struct log_entry {
	int64_t when; /* µs since 1970; 0: the line has no time */
	int64_t pid;
	char event[24], program[44], destination[268], policy[72], class[16], why[24];
	char error[24]; /* of errno= or eai= */
	char site[800];
	int64_t retry, attempts, throttled, refused, parked, held, waited_ms, since_ms;
};

/* Reads a line of syslog, of the journal or of stderr. False: it is not a record of the library.
 * now: for the year, which old time stamps lack. */
bool log_entry_read(const char *line, size_t n, time_t now, struct log_entry *entry);

#endif
