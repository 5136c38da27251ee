/* SPDX-License-Identifier: MIT */
/* Metrics in a file, for the textfile collector of node_exporter. */
#ifndef RETRYBUDGET_AGENT_TEXTFILE_H
#define RETRYBUDGET_AGENT_TEXTFILE_H

#include "agent/exposition.h"

/* Replaces directory/retrybudget.prom as a whole: its reader sees the old or the new one. False,
 * with a message on standard error: the old one stands. */
bool textfile_write(const char *directory, const struct totals *totals, const struct round *round);

#endif
