/* SPDX-License-Identifier: MIT */
/* Sums, with their findings, and records as JSON. Without jansson nothing is printed. */
#ifndef RETRYBUDGET_TOOL_LOGS_JSON_H
#define RETRYBUDGET_TOOL_LOGS_JSON_H

#include "tool/logs_sum.h"

#include <stdbool.h>
#include <stdio.h>

/* tables, directory: as log_print_sums() has them. False: built without jansson. */
bool log_json_sums(FILE *out, const struct log_sums *sums, unsigned tables, const char *directory);

/* A line of its own. False: built without jansson. */
bool log_json_entry(FILE *out, const struct log_entry *entry);

#endif
