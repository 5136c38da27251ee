/* SPDX-License-Identifier: MIT */
/* What `retrybudget advise` has seen of one destination. */
#ifndef RETRYBUDGET_TOOL_ADVISE_FACTS_H
#define RETRYBUDGET_TOOL_ADVISE_FACTS_H

#include "region/region.h"

#include <stdbool.h>
#include <stdio.h>

struct facts {
	char name[REGION_NAME];
	char label[REGION_LABEL]; /* of its section, as a process says */
	int64_t regions;          /* that know it: each has a budget of its own */
	double seconds;           /* that these have run, together */
	int64_t first, first_failed;
	int64_t retries, retries_answered;
	int64_t refused; /* of the retries; in observe: would have been */
	int64_t recoveries[REGION_TIMES];
	int64_t herd; /* the most of them that began in one second */
	bool observed, is_shared;
};

/* Reads the regions of all processes, or of what is wanted. NULL with errno: /proc cannot be read,
 * or no memory is left. *left_out: destinations beyond the most that are kept. */
struct facts *facts_of_processes(const char *wanted, size_t *count, size_t *left_out);

/* Of a trace as `simulate` reads it. */
void facts_of_trace(FILE *trace, struct facts *facts);

/* A trace that has these numbers: failures in outages of the usual length, each failed request
 * tried again as often as was seen, nothing throttled. NULL with errno. */
FILE *facts_trace(const struct facts *facts);

#endif
