/* SPDX-License-Identifier: MIT */
/* The text that Prometheus reads (exposition format 0.0.4). */
#ifndef RETRYBUDGET_AGENT_EXPOSITION_H
#define RETRYBUDGET_AGENT_EXPOSITION_H

#include "agent/totals.h"

#include <stdio.h>

/* What the daemon knows of its own last round. */
struct round {
	size_t processes;  /* under the library, and read */
	size_t unreadable; /* of other users, or gone meanwhile */
	size_t strange;    /* of another layout, or no region whatever its name says */
	double seconds;    /* it took */
	double at;         /* Unix time of its end */
};

/* Writes all metrics. Whatever bytes a name has, no line can be forged by it. */
void exposition_write(const struct totals *totals, const struct round *round, FILE *out);

#endif
