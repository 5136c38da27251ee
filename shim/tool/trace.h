/* SPDX-License-Identifier: MIT */
/* A trace of attempts, played to a policy. */
#ifndef RETRYBUDGET_TOOL_TRACE_H
#define RETRYBUDGET_TOOL_TRACE_H

#include "budget/policy.h"

#include <stdbool.h>
#include <stdio.h>

/* Reads the trace from standard input. Returns the exit status. */
int trace_play(const char *file, const char *label, bool original);

/* Plays it from its begin and prints nothing: how many retries asked, and how many went. False if
 * it cannot be read, or a line not be understood, which is told. */
bool trace_count(const struct policy *policy, const struct bucket_rule *process, FILE *trace,
                 int *asked, int *went);

#endif
