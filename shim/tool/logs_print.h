/* SPDX-License-Identifier: MIT */
/* Sums, records and findings, for people. */
#ifndef RETRYBUDGET_TOOL_LOGS_PRINT_H
#define RETRYBUDGET_TOOL_LOGS_PRINT_H

#include "tool/logs_findings.h"

#include <stdio.h>

/* tables: a bit for each of enum log_table that is wanted; directory: where files with symbols are,
 * or NULL. */
void log_print_sums(FILE *out, const struct log_sums *sums, unsigned tables, const char *directory);
void log_print_entry(FILE *out, const struct log_entry *entry);
void log_print_finding(FILE *out, const struct log_loop *loop, const struct log_finding *finding);

#endif
